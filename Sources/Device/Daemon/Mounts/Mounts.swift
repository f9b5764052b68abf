// The mounts of the served device: from an app in the registry to a home at a mount point.

import AppContainer
import BackingStore
import ContainerMount
import ContainerVolume
import DeviceLifecycle
import Logging
import Platform
import SandboxModel

/// Mounts apps of a device, and passes on to the mounts what happens to the device: locks, restarts, updates,
/// deliveries.
///
/// It has no lock: the table of mounts, the waiters and the record of refusals have their own. An operation on the app
/// (``AppOperations``) keeps two calls from mounting or unmounting one app at once.
final class Mounts: Sendable {
    let device: BootedDevice
    let table: MountTable
    private let endWaiters: MountEndWaiters
    private let refusals: RefusalRecord

    /// The mount points of apps for which the request names none.
    let homes: Homes

    /// - Parameters:
    ///   - socket: the control socket's path, beside which a privileged daemon keeps the device's own mount.
    ///   - transport: for mounts whose options name none.
    init(
        device: BootedDevice, socket: String, transport: TransportChoice = .automatic, log: Logger, events: EventLog,
        changes: ChangeFeed = ChangeFeed(), guardian: MountGuard? = nil
    ) throws(Complaint) {
        self.device = device
        let homes = RuntimeDirectory.homes(besideSocket: socket)
        self.homes = homes
        let endWaiters = MountEndWaiters()
        self.endWaiters = endWaiters
        let refusals = RefusalRecord(events: events)
        self.refusals = refusals
        let root = try Complaint.wrap("cannot open \(device.directory.path)") { () throws(SystemError) in
            SharedDescriptor(try device.directory.root.duplicate())
        }
        table = MountTable(
            device: device.directory.path,
            privateDirectory: RuntimeDirectory.privateDirectory(besideSocket: socket), homesDirectory: homes.directory,
            transport: transport,
            makeVolume: { view in Volume(view: view, device: root, context: device.context) },
            events: MountEvents(
                ended: { mount in
                    log.info("unmounted \(mount.app)", metadata: ["at": "\(mount.mountPoint)"])
                    events.record(Event(.unmounted, app: mount.app.text, path: mount.mountPoint))
                    homes.remove(mount.mountPoint)
                    endWaiters.end(mount.mountPoint)
                },
                admits: { refusals.admits($0, thread: $1) },
                refused: { refusals.record($0) },
                lost: { lost in
                    let path = lost.place.path ?? "a file"
                    log.warning("refused \(lost.range.count) bytes of \(path), written while the device locked")
                    events.record(Event(lost))
                },
                followsChanges: { changes.isFollowed }, changed: { changes.record($0) },
                dropped: { log.error("\($0)") },
                failed: { log.error("\($0)") }),
            guardian: guardian)
    }

    // MARK: Looking

    /// Takes note of the mounts that somebody has unmounted from outside: nothing holds their apps running any more.
    func review() { table.review() }

    /// The present mounts, without those that somebody has unmounted from outside.
    var all: [Mount] {
        table.review()
        return table.mounts.map(Mount.init)
    }

    /// - Returns: nil when the app is not mounted.
    func mount(of app: ContainerIdentifier) -> Mount? {
        all.first { $0.app == app.text }
    }

    func mountPoint(of app: ContainerIdentifier) -> String? {
        mount(of: app)?.mountPoint
    }

    /// - Parameter change: a word for the message, such as "uninstalled".
    /// - Throws: ``Complaint`` of kind `inUse` while the app is mounted.
    func requireUnmounted(_ app: ContainerIdentifier, before change: String) throws(Complaint) {
        table.review()
        if let mount = table.mount(of: app) {
            throw Complaint(.inUse, "\(app) is mounted at \(mount.mountPoint); unmount it before it is \(change)")
        }
        guard table.volume(of: app) == nil else {
            throw Complaint(.inUse, "\(app) was unmounted, but files in it are still open; close them first")
        }
    }

    /// The path of an inode of the device directory, as far as a mount knows it.
    func homePath(ofInode inode: UInt64) -> HomePath? {
        table.volumes.lazy.compactMap { $0.homePath(ofInode: inode) }.first
    }

    /// The backing file of an inode, if a mount has it open. Backups and checks read through it, with its lock.
    func openFile(inode: UInt64) -> EncryptedFile? {
        table.volumes.lazy.compactMap { $0.openFile(inode: inode) }.first
    }

    // MARK: Purging

    /// The volume that shows an app, also after its mount was taken out of sight.
    func volumeBehind(_ app: ContainerIdentifier) -> Volume? { table.volumeBehind(app) }

    /// Waits until the kernel has taken all notifications sent so far.
    func waitForKernel() { table.waitForKernel() }

    // MARK: Mounting

    /// Mounts an app at a path of the host.
    /// - Throws: ``Complaint`` of kind `alreadyMounted`, `groupMounted`, `mountPoint`, `fuseMissing` and others.
    func mount(
        _ app: InstalledApp, at mountPoint: String, options: MountOptions = MountOptions()
    ) throws(Complaint) -> Mount {
        let home = try home(of: app, options)
        return Mount(try table.mount(home, at: mountPoint, options: options))
    }

    /// Mounts an app at a directory that is made for it.
    func mount(
        _ app: InstalledApp, _ purpose: Homes.Purpose, options: MountOptions = MountOptions()
    ) throws(Complaint) -> Mount {
        let home = try homes.make(purpose, of: app.data.text)
        do throws(Complaint) {
            return try mount(app, at: home, options: options)
        } catch {
            homes.remove(home)
            throw error
        }
    }

    /// - Throws: ``Complaint`` of kind `notMounted`, or `inUse` while a file in it is open and `lazy` is false.
    func unmount(_ mountPoint: String, lazy: Bool) throws(Complaint) {
        try table.unmount(mountPoint, lazily: lazy)
    }

    /// Ends all mounts, at the end of the device.
    func endAll() {
        table.shutDown()
        // The thread of a session that ended by itself may not have come to its mount point yet, and the process ends
        // soon.
        homes.removeAll()
        reportOmissions()
    }

    /// Records the number of refusals that were left out so far.
    func reportOmissions() { refusals.reportOmissions() }

    /// - Throws: ``Complaint`` of kind `damaged` when a container of the app is not where the registry has it.
    func home(of app: InstalledApp, _ options: MountOptions) throws(Complaint) -> Home {
        let bundle = try device.sealedBundle(of: app)
        do throws(SystemError) {
            return try open(app, bundle, options)
        } catch {
            guard error == .noEntry || error == .notDirectory else {
                throw Complaint(error, doing: "cannot open the containers of \(app.identifier)")
            }
            throw Complaint(
                .damaged,
                "\(device.directory.path) lacks a container of \(app.identifier); restore it from a copy of the device")
        }
    }

    /// Opens the containers of an app for a home.
    /// - Throws: an error of openat(2); `ENOENT` where a container is not in the device directory.
    private func open(
        _ app: InstalledApp, _ bundle: SealedBundle, _ options: MountOptions
    ) throws(SystemError) -> Home {
        let directory = device.directory
        let shared = try EntitledContainers(of: app, in: directory)
        return Home(
            app: app.identifier, bundleName: app.bundleName, bundle: bundle,
            data: SharedDescriptor(try directory.container(.data, app.data)), groups: shared.groups,
            iCloud: shared.iCloud, owner: app.owner, group: app.ownerGroup, isExtension: app.place != nil,
            isPrivate: !options.otherUsers,
            showsOnlyDocuments: options.onlyDocuments, showsCacheTags: options.cacheTags)
    }

    // MARK: Space

    /// Tells the kernel that the device has become nearly full, or is no longer, or has another capacity. The caller
    /// holds no lock.
    func noticeTightness() {
        table.noticeTightness()
    }

    // MARK: Changes from outside the mount

    /// - Throws: ``Complaint`` of kind `groupMounted` where a mounted app would come to show a container that another
    ///   mount, with a page cache of its own, shows already.
    func requireFree(
        groups: [ContainerIdentifier], iCloud: [ContainerIdentifier], for app: ContainerIdentifier
    ) throws(Complaint) {
        guard let mount = table.mount(of: app), let (volume, _) = table.volume(of: app) else { return }
        for other in table.mounts where other.app != app {
            guard let (otherVolume, _) = table.volume(of: other.app), otherVolume !== volume else { continue }
            let entitled = try device.app(other.app)
            let shown =
                entitled.groups.filter { groups.contains($0.identifier) }
                + entitled.iCloud.filter { iCloud.contains($0.identifier) }
            if let container = shown.first {
                throw Complaint(
                    .groupMounted,
                    "\(container.identifier) is shown at \(other.mountPoint) already; unmount that or "
                        + "\(mount.mountPoint) first")
            }
        }
    }

    /// Shows a mounted app's home with the containers that it is entitled to now.
    func showAnew(_ app: InstalledApp) throws(Complaint) {
        guard let mount = table.mount(of: app.identifier) else { return }
        let home = try home(of: app, mount.options)
        table.show(home)
        waitForKernel()
    }

    /// Has the kernel look anew at an Inbox into which the device has put files. Its next look shows them.
    func noticeDelivery(_ delivery: InboxDelivery.Result, to app: ContainerIdentifier) {
        guard let (volume, home) = table.volume(of: app) else { return }
        let inbox = home + [HomeLayout.documents, HomeLayout.inbox]
        if delivery.madeInbox { volume.noticeChange(of: inbox) }
        for name in delivery.names { volume.noticeChange(of: inbox + [name]) }
        waitForKernel()
    }

    /// Has the kernel write out the dirty pages of all mounts.
    func writeOut() { table.writeOut() }

    // MARK: Lock and restart

    /// Takes the content of class A from the kernel, and then the keys.
    /// - Parameter takeKeys: called when nothing can be read any more.
    func lock(takeKeys: () -> Void) {
        table.lock(device.context.openFiles, takeKeys: takeKeys)
        device.context.openFiles.waitForReaders()
    }

    /// Gives every file a new node, as after a reboot.
    /// - Parameter forget: called when no request is under way.
    func restart(forget: () -> Void) {
        table.restart(retire: forget)
        device.context.openFiles.waitForReaders()
    }

    /// Records the writes that a lock kept from being stored.
    func reportLosses() {
        for volume in table.volumes { volume.reportLosses() }
    }

    /// Whether the numbers for nodes last for another restart.
    var canRestart: Bool { table.volumes.allSatisfy { $0.canRestart } }

    // MARK: The end of a mount

    /// Calls back when the mount has ended; at once when there is none.
    func whenEnded(_ mountPoint: String, _ body: @escaping @Sendable () -> Void) {
        endWaiters.wait(for: mountPoint, while: { table.mounts.contains { $0.mountPoint == mountPoint } }, body)
    }
}

extension Mount {
    fileprivate init(_ mount: ActiveMount) {
        self.init(
            app: mount.app.text, mountPoint: mount.mountPoint, readOnly: mount.options.readOnly,
            allowOther: mount.options.otherUsers, documents: mount.options.onlyDocuments,
            cachedirTag: mount.options.cacheTags, transport: Mount.Transport(mount.transport))
    }
}

extension Mount.Transport {
    fileprivate init(_ transport: Transport) {
        switch transport {
        case .devFuse: self = .devFuse
        case .ioUring: self = .ioUring
        }
    }
}
