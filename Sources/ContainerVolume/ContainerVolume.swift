// ContainerVolume
