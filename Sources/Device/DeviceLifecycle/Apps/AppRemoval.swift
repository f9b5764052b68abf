// Removing apps: the registry decides, then the containers are removed that no app has any more.

public import BackingStore
import Platform
public import SandboxModel

extension BootedDevice {
    /// Removes an app and its containers; a group or iCloud container goes with the last app that has it. For an app
    /// that is not installed, or for a group, removes the restored containers that wait for it.
    ///
    /// The app is not mounted: the caller has seen to it. Once it is out of the registry it is gone; a cancelled or
    /// interrupted removal is completed at the next boot.
    ///
    /// - Parameter progress: files removed.
    /// - Throws: ``Complaint`` of kind `unknownApp`.
    public func uninstall(
        _ identifier: ContainerIdentifier, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        try installedApps.changing { (changes) throws(Complaint) in
            try AppRemoval(of: identifier, on: self).run(changes, progress: progress)
        }
    }
}

/// One removal of an app. Its owner changes apps, so that no other operation is under way.
private struct AppRemoval {
    private let device: BootedDevice
    private let identifier: ContainerIdentifier

    init(of identifier: ContainerIdentifier, on device: BootedDevice) {
        self.device = device
        self.identifier = identifier
    }

    /// Carries out the removal.
    /// - Parameter progress: files removed. False ends the removal of files; the app is gone already.
    func run(_ changes: AppChanges, progress: (DeviceProgress) -> Bool) throws(Complaint) {
        // Before the change, as nothing names the containers after it.
        let before = device.registry.places
        try unregister(changes)
        device.reached(.unregistered)
        let kept = device.registry.containers
        try Complaint.wrap("cannot remove the containers of \(identifier)") { () throws(SystemError) in
            try device.moveAway(before.filter { !kept.contains($0.uuid) })
            device.reached(.movedAway)
            try device.staging.removeUnused(progress: progress)
            device.reached(.removed)
        }
    }

    /// The decision: from here on the app is gone, or its containers wait no longer.
    private func unregister(_ changes: AppChanges) throws(Complaint) {
        let registry = device.registry
        let remaining = registry.discarding(identifier)
        if remaining == registry || device.installedApps.installed(identifier) != nil {
            let app = try device.app(identifier)
            if let place = app.place {
                throw Complaint(
                    .notAllowed, "\(identifier) is an extension of \(place.app), and goes with it; uninstall that")
            }
            try changes.unregister(app)
        } else {
            try changes.replace(with: remaining)
        }
    }

}

extension BootedDevice {
    /// Moves containers that no app has any more into the staging directory, from where they are removed.
    func moveAway(_ containers: [(kind: ContainerKind, uuid: ContainerUUID)]) throws(SystemError) {
        let staging = try self.staging.open()
        for (kind, uuid) in containers {
            do throws(SystemError) {
                try directory.containers(kind).rename(uuid.fileName, to: uuid.fileName, in: staging)
            } catch {
                // It was removed by hand.
                guard error == .noEntry else { throw error }
            }
        }
    }
}
