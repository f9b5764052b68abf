// The mounts of the served device: from an app in the registry to a home at a mount point.

import AppContainer
import BackingStore
import ContainerMount
import ContainerVolume
import DeviceLifecycle
import Logging
import Platform
import SandboxModel
import Synchronization

/// Which apps are mounted, and who waits for the end of a mount.
final class Mounts: Sendable {
    let device: Device
    let table: MountTable
    private let waiting: Waiting
    private let refusals: RefusalRecord

    /// Where apps are mounted that nobody named a place for.
    let homes: Homes

    /// - Parameter socket: the control socket's path, beside which a privileged daemon keeps the device's own mount.
    init(
        device: Device, socket: String, log: Logger, events: EventLog, guardian: MountGuard? = nil
    ) throws(Complaint) {
        self.device = device
        let homes = Homes(directory: RuntimeDirectory.homesDirectory(besideSocket: socket))
        self.homes = homes
        let waiting = Waiting()
        self.waiting = waiting
        let refusals = RefusalRecord(events: events)
        self.refusals = refusals
        let root = try Complaint.wrap("cannot open \(device.directory.path)") { () throws(SystemError) in
            SharedDescriptor(try device.directory.root.duplicate())
        }
        table = MountTable(
            device: device.directory.path,
            privateDirectory: RuntimeDirectory.privateDirectory(besideSocket: socket), homesDirectory: homes.directory,
            makeVolume: { view in Volume(view: view, device: root, context: device.context) },
            ended: { mount in
                log.info("unmounted \(mount.app)", metadata: ["at": "\(mount.mountPoint)"])
                events.record(Event(.unmounted, app: mount.app.text, path: mount.mountPoint))
                homes.remove(mount.mountPoint)
                waiting.end(mount.mountPoint)
            },
            admitsRefusal: { refusals.admits($0, thread: $1) }, refused: { refusals.record($0) },
            lost: { lost in
                let path = lost.place.path ?? "a file"
                log.warning("refused \(lost.range.count) bytes of \(path), written while the device locked")
                events.record(Event(lost))
            }, dropped: { log.error("\($0)") }, guardian: guardian)
    }

    // MARK: Looking

    /// What is mounted at this moment, whoever has unmounted what.
    var all: [Mount] {
        table.review()
        return table.mounts.map(Mount.init)
    }

    func mount(of app: ContainerIdentifier) -> Mount? {
        all.first { $0.app == app.text }
    }

    func mountPoint(of app: ContainerIdentifier) -> String? {
        mount(of: app)?.mountPoint
    }

    /// - Parameter change: what is to happen to the app, such as "uninstalled".
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

    func whereabouts(ofInode inode: UInt64) -> Whereabouts? {
        table.volumes.lazy.compactMap { $0.whereabouts(ofInode: inode) }.first
    }

    func openFile(inode: UInt64) -> EncryptedFile? {
        table.volumes.lazy.compactMap { $0.openFile(inode: inode) }.first
    }

    /// Looks at a path of an app's home, through its mount if it has one.
    func inspect(_ path: [FileName], of app: InstalledApp) throws(Fault) -> NodeInspection {
        // What a mount does not show cannot be open in it.
        let isShown = path.isEmpty || path.first == "Documents" || mount(of: app.identifier)?.documents != true
        if isShown, let (volume, home) = table.volume(of: app.identifier) { return try volume.inspect(home + path) }
        let home: Home
        do throws(Fault) {
            home = try homeToInspect(of: app)
        } catch {
            // An update may be giving the containers other names.
            device.awaitChange()
            guard let present = try? device.app(app.identifier) else { throw error }
            home = try homeToInspect(of: present)
        }
        let root = SharedDescriptor(try duplicateOfRoot())
        return try Volume(view: .home(home), device: root, context: device.context).inspect(path)
    }

    private func homeToInspect(of app: InstalledApp) throws(Fault) -> Home {
        let bundle: SealedBundle
        do throws(Complaint) {
            bundle = try device.sealedBundle(of: app)
        } catch {
            throw .corrupt
        }
        return try onHost { () throws(SystemError) in try open(app, bundle, MountOptions()) }
    }

    private func duplicateOfRoot() throws(Fault) -> Descriptor {
        do throws(SystemError) {
            return try device.directory.root.duplicate()
        } catch {
            throw .system(error)
        }
    }

    // MARK: Purging

    func volumeBehind(_ app: ContainerIdentifier) -> Volume? { table.volumeBehind(app) }

    func waitForKernel() { table.waitForKernel() }

    // MARK: Mounting

    func mount(
        _ app: InstalledApp, at mountPoint: String, options: MountOptions = MountOptions()
    ) throws(Complaint) -> Mount {
        let home = try home(of: app, options)
        return Mount(try table.mount(home, at: mountPoint, options: options))
    }

    /// Mounts an app at a place that is made for it.
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

    func unmount(_ mountPoint: String, lazy: Bool) throws(Complaint) {
        try table.unmount(mountPoint, lazily: lazy)
    }

    func endAll() {
        table.shutDown()
        reportOmissions()
    }

    /// Has the record tell of every refusal that was left out so far.
    func reportOmissions() { refusals.reportOmissions() }

    /// - Throws: ``Complaint`` of kind `damaged` when a container of the app is not where the registry has it.
    private func home(of app: InstalledApp, _ options: MountOptions) throws(Complaint) -> Home {
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

    private func open(
        _ app: InstalledApp, _ bundle: SealedBundle, _ options: MountOptions
    ) throws(SystemError) -> Home {
        let directory = device.directory
        var groups: [ContainerIdentifier: SharedDescriptor] = [:]
        for group in app.groups {
            groups[group.identifier] = SharedDescriptor(try directory.container(.group, group.uuid))
        }
        var iCloud: [ContainerIdentifier: SharedDescriptor] = [:]
        for container in app.iCloud {
            iCloud[container.identifier] = SharedDescriptor(try directory.container(.iCloud, container.uuid))
        }
        return Home(
            app: app.identifier, bundleName: app.bundleName, bundle: bundle,
            data: SharedDescriptor(try directory.container(.data, app.data)), groups: groups, iCloud: iCloud,
            owner: app.owner, group: app.ownerGroup, isPrivate: !options.otherUsers,
            showsOnlyDocuments: options.onlyDocuments, showsCacheTags: options.cacheTags)
    }

    // MARK: Space

    /// Called when the device has come to be nearly full or is not any more, or has another capacity; with no lock held.
    func noticeTightness() {
        table.noticeTightness()
    }

    // MARK: What changes without the kernel

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

    /// Shows an app's home with the containers that it is entitled to now.
    func showAnew(_ app: InstalledApp) throws(Complaint) {
        guard let mount = table.mount(of: app.identifier) else { return }
        let home = try home(of: app, mount.options)
        table.show(home)
    }

    func noticeDelivery(_ delivery: Device.Delivery, to app: ContainerIdentifier) {
        guard let (volume, home) = table.volume(of: app) else { return }
        let documents: FileName = "Documents"
        let inbox: FileName = "Inbox"
        if delivery.madeInbox { volume.noticeChange(of: home + [documents, inbox]) }
        for name in delivery.names { volume.noticeChange(of: home + [documents, inbox, name]) }
    }

    /// Has the kernel write out what applications have written, many pages at a time.
    func writeOut() { table.writeOut() }

    // MARK: Lock and restart

    func lock(takeKeys: () -> Void) {
        table.lock(device.context.content, takeKeys: takeKeys)
        device.context.content.settle()
    }

    func restart(forget: () -> Void) {
        table.restart(retire: forget)
        device.context.content.settle()
    }

    func reportLosses() {
        for volume in table.volumes { volume.tellLosses() }
    }

    var canRestart: Bool { table.volumes.allSatisfy { $0.canRestart } }

    // MARK: The end of a mount

    /// Calls back when the mount has ended; at once when there is none.
    func whenEnded(_ mountPoint: String, _ body: @escaping @Sendable () -> Void) {
        waiting.wait(mountPoint, while: { table.mounts.contains { $0.mountPoint == mountPoint } }, body)
    }

    /// Who waits for which mount.
    private final class Waiting: Sendable {
        private let bodies = Mutex<[String: [@Sendable () -> Void]]>([:])

        /// Looks under the lock that ``end(_:)`` takes after a mount is gone: nobody waits for what has ended.
        func wait(_ mountPoint: String, while isThere: () -> Bool, _ body: @escaping @Sendable () -> Void) {
            let waits = bodies.withLock { bodies in
                guard isThere() else { return false }
                bodies[mountPoint, default: []].append(body)
                return true
            }
            if !waits { body() }
        }

        func end(_ mountPoint: String) {
            for body in bodies.withLock({ $0.removeValue(forKey: mountPoint) }) ?? [] { body() }
        }
    }
}

extension Mount {
    fileprivate init(_ mount: ActiveMount) {
        self.init(
            app: mount.app.text, mountPoint: mount.mountPoint, readOnly: mount.options.readOnly,
            allowOther: mount.options.otherUsers, documents: mount.options.onlyDocuments,
            cachedirTag: mount.options.cacheTags)
    }
}
