// Emptying an app's data container: one exchange of names decides, then the old content is removed.

public import BackingStore
import Platform
public import SandboxModel

extension BootedDevice {
    /// Empties an app's data container to what it was after the installation. Group and iCloud containers stay.
    ///
    /// The app is not mounted: the caller has seen to it. A process that is killed at any point leaves all of the old
    /// content, or none.
    ///
    /// - Parameter progress: files removed.
    /// - Throws: ``Complaint`` of kind `unknownApp`.
    public func reset(
        _ identifier: ContainerIdentifier, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        try installedApps.changing { (_) throws(Complaint) in
            try DataReset(of: try app(identifier), on: self).run(progress: progress)
        }
    }
}

/// One reset. Its owner changes apps, so that no other operation is under way.
private struct DataReset {
    private let device: BootedDevice
    private let app: InstalledApp
    /// The name of the new content, and then of the old, in the staging directory.
    private let stagedName = ContainerUUID().fileName

    init(of app: InstalledApp, on device: BootedDevice) {
        self.device = device
        self.app = app
    }

    /// Carries out the reset. An error before the exchange leaves the old content, one after it the new. The next boot
    /// removes all that is left of the other.
    func run(progress: (DeviceProgress) -> Bool) throws(Complaint) {
        let doing = "cannot reset \(app.identifier)"
        do throws(Complaint) {
            try Complaint.wrapFault(doing) { () throws(Fault) in try stage() }
            try Complaint.wrap(doing) { () throws(SystemError) in try exchange() }
        } catch {
            device.staging.remove(stagedName)
            throw error
        }
        device.reached(.exchanged)
        try Complaint.wrap("cannot remove the old content of \(app.identifier)") {
            () throws(SystemError) in
            try device.staging.removeUnused(progress: progress)
        }
    }

    /// Makes the new content.
    private func stage() throws(Fault) {
        let container = try onHost { () throws(SystemError) in
            let staging = try device.staging.open()
            try staging.makeDirectory(stagedName, for: app.containerOwner)
            return try staging.openDirectory(stagedName)
        }
        let data = DataContainer(
            app: app.identifier, uuid: app.data, owner: app.containerOwner, device: device.directory.uuid,
            isExtension: app.place != nil, protection: app.defaultProtection)
        try data.fill(container, context: device.staging.context)
    }

    /// The decision: at that instant the old content is gone.
    private func exchange() throws(SystemError) {
        try device.directory.root.synchronizeFilesystem()
        device.reached(.stagedReset)
        let staging = try device.staging.open()
        let containers = try device.directory.containers(.data)
        try staging.rename(stagedName, to: app.data.fileName, in: containers, mode: .exchanging)
        try containers.synchronizeEntries()
        // After the exchange: the container has the registry's name, and the old content lies in the staging directory.
        device.space.countComing(try containers.openDirectory(app.data.fileName))
        device.space.countGoing([SharedDescriptor(try staging.openDirectory(stagedName))])
    }
}
