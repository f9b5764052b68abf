// ContainerMount
