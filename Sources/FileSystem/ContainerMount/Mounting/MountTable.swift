// Which app is mounted where.
// Locks: `changes` is held for the whole of a mount, an unmount or the end; `state` below it, for moments only.

public import ContainerVolume
import FuseBridge
public import Glibc
public import Platform
public import SandboxModel
import Synchronization

/// The mounts of one device, made and ended.
///
/// A privileged daemon mounts the device once and binds each app's home; another has a session, and a volume, for
/// each mount. Every call blocks until it is done, and may come from any thread but those of requests.
public final class MountTable: Sendable {
    /// Called once for each mount that has ended: by ``unmount(_:lazily:)``, from outside, or by the daemon's end.
    /// It must not call back into the table from its own thread.
    public typealias Ended = @Sendable (ActiveMount) -> Void

    struct Record: Sendable {
        var mount: ActiveMount
        var home: Home
        let volume: Volume
        /// A mount's own; nil for a bind.
        let session: Session?
        /// Unmounted, but something in it is still in use.
        var isDetached = false
        /// What the guardian knows it by.
        var connection: UInt32?
    }

    struct State: Sendable {
        var records: [UInt64: Record] = [:]
        var nextSerial: UInt64 = 1
        var device: DeviceMount?
        var watch: MountWatch?
        var hasEnded = false
    }

    let device: String
    private let directory: String
    private let homesDirectory: String
    private let makeVolume: @Sendable (Volume.View) -> Volume
    private let ended: Ended
    private let events: MountEvents
    private let isPrivileged = geteuid() == 0
    /// Is told of every superblock.
    let guardian: MountGuard?
    private let changes = Mutex(())
    let state = Mutex(State())

    /// - Parameters:
    ///   - device: the device directory's path, for the source `DEVICE:BUNDLE-ID` that findmnt(8) shows.
    ///   - privateDirectory: where a privileged daemon keeps the device's own mount. It is made and removed here; its
    ///     parent is there, and nobody else can enter it.
    ///   - homesDirectory: beside that, where apps may be mounted.
    ///   - makeVolume: a volume for each superblock.
    ///   - admitsRefusal: asked whether `refused` is to be told of a call, by its rule and a thread of its process (0 for
    ///     one that cannot be seen): how many were not told since this was asked last, or nil for no. No lock is held.
    ///   - refused: told of each call that a rule refuses, before the call returns, on the thread of its request. No
    ///     lock is held.
    ///   - lost: told of each range that an application wrote while the device locked or restarted, and that was
    ///     refused: when the file is closed, or the write has ended that it is a part of. It is not to call back.
    public init(
        device: String, privateDirectory: String, homesDirectory: String,
        makeVolume: @escaping @Sendable (Volume.View) -> Volume,
        ended: @escaping Ended, admitsRefusal: @escaping @Sendable (Rule, pid_t) -> Int? = { _, _ in 0 },
        refused: @escaping @Sendable (RefusedCall) -> Void = { _ in },
        lost: @escaping @Sendable (LostRange) -> Void = { _ in },
        guardian: MountGuard? = nil
    ) {
        self.device = device
        directory = privateDirectory
        self.homesDirectory = homesDirectory
        self.makeVolume = makeVolume
        self.ended = ended
        events = MountEvents(admits: admitsRefusal, refused: refused, lost: lost)
        self.guardian = guardian
    }

    /// One change at a time.
    func changing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try changes.withLock { _ throws(Failure) in try body() }
    }

    // MARK: Looking

    public var mounts: [ActiveMount] {
        state.withLock { state in
            state.records.values.filter { !$0.isDetached }.map(\.mount).sorted { $0.serial < $1.serial }
        }
    }

    public func mount(of app: ContainerIdentifier) -> ActiveMount? {
        mounts.first { $0.app == app }
    }

    /// The volume that shows an app, and the path of the app's home in it; nil while it is not mounted.
    public func volume(of app: ContainerIdentifier) -> (volume: Volume, path: [FileName])? {
        state.withLock { state in
            state.records.values.first { $0.mount.app == app }.map { record in
                (record.volume, record.session == nil ? [app.fileName] : [])
            }
        }
    }

    /// The volumes that are mounted, each once.
    public var volumes: [Volume] {
        state.withLock { state in
            state.device.map { [$0.volume] } ?? state.records.values.map(\.volume)
        }
    }

    // MARK: Mounting

    /// Shows an app's home at a directory. The mount answers when this returns.
    /// - Throws: ``Complaint`` of kind `mountPoint`, `alreadyMounted`, `groupMounted`, `fuseMissing`,
    ///   `fuseConfiguration` or `shuttingDown`.
    public func mount(_ home: Home, at path: String, options: MountOptions) throws(Complaint) -> ActiveMount {
        try changing { () throws(Complaint) in
            guard !state.withLock({ $0.hasEnded }) else {
                throw Complaint(.shuttingDown, "the device is shutting down: try again when it has")
            }
            awaitUnmount(of: home.app)
            try requireFree(home)
            if state.withLock({ $0.watch == nil }) { try begin() }
            let place = try MountPoint.prepare(path)
            let slash = directory.lastIndex(of: "/") ?? directory.startIndex
            try MountPoint.requireHarmless(
                place, device: device, runtimeDirectory: String(directory[..<slash]), homesDirectory: homesDirectory)
            let serial = state.withLock { state in
                defer { state.nextSerial += 1 }
                return state.nextSerial
            }
            let mount = ActiveMount(app: home.app, mountPoint: place, options: options, serial: serial)
            let record = isPrivileged ? try bind(home, mount) : try mountAlone(home, mount)
            state.withLock { $0.records[serial] = record }
            do throws(SystemError) {
                try HostPath.requireAnswer(place)
            } catch {
                try? Session.unmount(place, lazily: true)
                _ = remove(serial)
                throw Complaint(.unexpected, "the mount at \(place) does not answer: \(error.message)")
            }
            return mount
        }
    }

    private func begin() throws(Complaint) {
        MountPoint.removeAbandoned(of: device)
        do throws(SystemError) {
            let watch = try MountWatch { [weak self] in self?.review() }
            state.withLock { $0.watch = watch }
        } catch {
            throw Complaint(.unexpected, "the list of mounts cannot be watched: \(error.message)")
        }
    }

    /// Takes note of an outside umount that came just before: the kernel's news of it, and the end of its session, may
    /// still be on their way.
    private func awaitUnmount(of app: ContainerIdentifier) {
        guard mount(of: app) != nil || volume(of: app) != nil else { return }
        review()
        let deadline = ContinuousClock.now + .milliseconds(500)
        while mount(of: app) == nil, volume(of: app) != nil, ContinuousClock.now < deadline {
            usleep(2000)
        }
    }

    private func requireFree(_ home: Home) throws(Complaint) {
        let others = state.withLock { Array($0.records.values) }
        if let other = others.first(where: { $0.mount.app == home.app }) {
            throw Complaint(
                .alreadyMounted,
                other.isDetached
                    ? "\(home.app) is still in use where it was unmounted, at \(other.mount.mountPoint): "
                        + "close what is open there"
                    : "\(home.app) is already mounted at \(other.mount.mountPoint)")
        }
        // Binds share their superblock, and with it every group.
        guard !isPrivileged else { return }
        for other in others {
            let shared =
                Set(home.groups.keys).intersection(other.home.groups.keys)
                .union(Set(home.iCloud.keys).intersection(other.home.iCloud.keys))
            if let container = shared.min() {
                throw Complaint(
                    .groupMounted,
                    "\(container) is already shown by \(other.mount.app) at \(other.mount.mountPoint): "
                        + "unmount that first, or mount both as root")
            }
        }
    }

    private func bind(_ home: Home, _ mount: ActiveMount) throws(Complaint) -> Record {
        let device: DeviceMount
        if let known = state.withLock({ $0.device }) {
            device = known
        } else {
            device = try DeviceMount(
                device: self.device, directory: directory, volume: makeVolume(.device), events: events)
            state.withLock { $0.device = device }
            _ = guardian?.mounted(at: device.superblock.entrance ?? "")
        }
        try device.bind(home, at: mount.mountPoint, readOnly: mount.options.readOnly)
        return Record(mount: mount, home: home, volume: device.volume, session: nil)
    }

    private func mountAlone(_ home: Home, _ mount: ActiveMount) throws(Complaint) -> Record {
        let volume = makeVolume(.home(home))
        let mounted = VolumeFileSystem(volume, events: events)
        var options = Session.Options(
            source: "\(device):\(home.app)", subtype: MountPoint.subtype, otherUsers: mount.options.otherUsers)
        options.readOnly = mount.options.readOnly
        let session = try translatingFailure { () throws(MountFailure) in
            try Session.mount(mounted, at: mount.mountPoint, options: options) { [weak self] in
                self?.finish(mount.serial)
            }
        }
        mounted.attach(session)
        Superblock(volume: volume, session: session, entrance: mount.mountPoint).boundDirtyPages()
        return Record(
            mount: mount, home: home, volume: volume, session: session,
            connection: guardian?.mounted(at: mount.mountPoint))
    }

    // MARK: The end of one

    func remove(_ serial: UInt64) -> Record? {
        state.withLock { $0.records.removeValue(forKey: serial) }
    }

    /// Whoever takes the record away tells of the end.
    func finish(_ serial: UInt64) {
        guard let record = remove(serial) else { return }
        if let connection = record.connection { guardian?.ended(connection) }
        if record.session == nil { record.volume.hide(record.mount.app) }
        if !record.isDetached { ended(record.mount) }
    }

    /// Looks which mounts are gone from the kernel's list.
    public func review() {
        // The records first: a mount is in the list before it is in the table.
        let records = state.withLock { Array($0.records.values) }
        guard let list = try? MountInfo.all() else { return }
        for record in records where !record.isDetached {
            let source = "\(device):\(record.mount.app)"
            let isThere = list.contains {
                $0.mountPoint == record.mount.mountPoint && $0.type == MountPoint.type && $0.source == source
            }
            if !isThere { detach(record) }
        }
    }

    /// The mount is out of sight. A bind has ended by that; a session ends when nothing in it is in use any more.
    func detach(_ record: Record) {
        guard record.session != nil else { return finish(record.mount.serial) }
        let isNew = state.withLock { state in
            guard let known = state.records[record.mount.serial], !known.isDetached else { return false }
            state.records[record.mount.serial]!.isDetached = true
            return true
        }
        if isNew { ended(record.mount) }
    }
}
