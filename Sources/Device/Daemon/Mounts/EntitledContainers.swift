// The group and iCloud containers of an app, opened for its home.

import BackingStore
import Platform
import SandboxModel

/// Descriptors of the containers that an app shares with others, by identifier.
struct EntitledContainers {
    let groups: [ContainerIdentifier: SharedDescriptor]
    let iCloud: [ContainerIdentifier: SharedDescriptor]

    /// - Throws: an error of openat(2); `ENOENT` where a container is not in the device directory.
    init(of app: InstalledApp, in directory: DeviceDirectory) throws(SystemError) {
        var groups: [ContainerIdentifier: SharedDescriptor] = [:]
        for group in app.groups {
            groups[group.identifier] = SharedDescriptor(try directory.container(.group, group.uuid))
        }
        var iCloud: [ContainerIdentifier: SharedDescriptor] = [:]
        for container in app.iCloud {
            iCloud[container.identifier] = SharedDescriptor(try directory.container(.iCloud, container.uuid))
        }
        self.groups = groups
        self.iCloud = iCloud
    }
}
