// A container that a restore has built, and its place in the registry.

import BackingStore
import SandboxModel

/// A container from a backup, under a UUID of its own.
struct RestoredContainer: Sendable {
    /// A data or a group container.
    let kind: ContainerKind
    /// Of the app or the group.
    let identifier: ContainerIdentifier
    /// Whether it is an app extension's data container.
    var isExtension = false
    /// New, so that the container that it replaces can stay until the registry has changed.
    let uuid = ContainerUUID()
    /// The user of its files, as far as root may choose; else the user of this process.
    let owner: ContainerOwner
    /// The identifier of the device that it is restored onto.
    let device: String
    /// The groups of its app, where the backup says.
    let groups: [ContainerIdentifier]
}

extension AppRegistry {
    /// The registry with restored containers in place of those that it has. A container whose app is not installed
    /// waits.
    func placing(_ restored: [RestoredContainer]) -> AppRegistry {
        var registry = self
        for container in restored {
            registry.waiting.removeAll { $0.kind == container.kind && $0.identifier == container.identifier }
            var isTaken = false
            registry.apps = registry.apps.map { app in
                guard let changed = app.placing(container) else { return app }
                isTaken = true
                return changed
            }
            if !isTaken {
                registry.waiting.append(
                    WaitingContainer(
                        kind: container.kind, identifier: container.identifier, uuid: container.uuid,
                        owner: container.owner.user, ownerGroup: container.owner.group, groups: container.groups))
            }
        }
        return registry
    }
}

extension InstalledApp {
    /// The app with a container in place of its own; nil where the app has no such container.
    fileprivate func placing(_ container: RestoredContainer) -> InstalledApp? {
        var app = self
        switch container.kind {
        case .data where identifier == container.identifier: app.data = container.uuid
        case .group:
            guard let index = groups.firstIndex(where: { $0.identifier == container.identifier }) else { return nil }
            app.groups[index] = SharedContainerRecord(identifier: container.identifier, uuid: container.uuid)
        case .data, .bundle, .iCloud: return nil
        }
        return app
    }
}
