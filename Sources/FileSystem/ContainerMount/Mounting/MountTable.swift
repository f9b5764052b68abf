// Mounts apps, and notices mounts that end. `MountRecords` is the table itself; the other operations are in extensions.

public import ContainerVolume
import FuseBridge
import Glibc
public import Platform
public import SandboxModel
import Synchronization

/// The mounts of one device.
///
/// A privileged daemon mounts the device once and binds each app's home; an unprivileged one has a session and a volume
/// for each mount. Every call blocks until it is done, and may come from any thread that serves no requests.
///
/// Locks: `changes` is held for the whole of a mount, an unmount, a lock, a restart or the end. `state` comes after it
/// and is held for moments: no callback, system call or request runs under it.
public final class MountTable: Sendable {
    struct State: Sendable {
        var records = MountRecords()
        /// The mount of the whole device, from the first mount to the end; nil in an unprivileged daemon.
        var device: DeviceMount?
        /// nil before the first mount, and after the end.
        var watch: MountWatch?
        /// Set by ``shutDown()``: no mount is made any more.
        var hasEnded = false
    }

    let device: String
    private let directory: String
    private let homesDirectory: String
    private let transport: TransportChoice
    private let makeVolume: @Sendable (Volume.View) -> Volume
    private let events: MountEvents
    private let isPrivileged = ActingUser.isPrivileged
    /// The process that aborts connections if the daemon is killed; it is told of every superblock.
    let guardian: MountGuard?
    private let changes = Mutex(())
    let state = Mutex(State())
    /// The ends that are being reported, by serial number. Another thread that has found such a mount gone waits for
    /// the report: its caller relies on what `ended` does. A leaf; `ended` is called without it.
    private let reports = Monitor<Set<UInt64>>([])

    /// - Parameters:
    ///   - device: the device directory's path, for the source `DEVICE:BUNDLE-ID` that findmnt(8) shows.
    ///   - privateDirectory: the directory of a privileged daemon's own mount. It is made and removed here; its parent
    ///     must exist and be accessible to root only.
    ///   - homesDirectory: a directory beside it where apps may be mounted.
    ///   - transport: for mounts whose options name none.
    ///   - makeVolume: makes the volume of a superblock.
    ///   - guardian: told of every superblock; nil for none.
    public init(
        device: String, privateDirectory: String, homesDirectory: String, transport: TransportChoice = .automatic,
        makeVolume: @escaping @Sendable (Volume.View) -> Volume, events: MountEvents, guardian: MountGuard? = nil
    ) {
        self.device = device
        directory = privateDirectory
        self.homesDirectory = homesDirectory
        self.transport = transport
        self.makeVolume = makeVolume
        self.events = events
        self.guardian = guardian
    }

    /// Runs a change while no other runs.
    func changing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try changes.withLock { _ throws(Failure) in try body() }
    }

    // MARK: Queries

    /// The kernel's requests to all mounts of this process since it started, by kind.
    public static var servedRequests: [String: UInt64] { RequestCounts.total }

    /// The mounts in sight, in the order in which they were made.
    public var mounts: [ActiveMount] {
        state.withLock { $0.records.active }
    }

    /// An app's mount in sight.
    public func mount(of app: ContainerIdentifier) -> ActiveMount? {
        mounts.first { $0.app == app }
    }

    /// The volume that shows an app, and the path of the app's home in it; nil if it is not mounted.
    public func volume(of app: ContainerIdentifier) -> (volume: Volume, path: [FileName])? {
        state.withLock { state in
            state.records.record(of: app).map { record in
                (record.volume, record.session == nil ? [app.fileName] : [])
            }
        }
    }

    /// The volume that shows a path of an app's home, and the path of the home in it; nil where no mount shows that.
    public func volume(
        of app: ContainerIdentifier, showing path: [FileName]
    ) -> (volume: Volume, path: [FileName])? {
        let isShown = state.withLock { state in
            let home = state.records.record(of: app)?.home
            return home?.showsOnlyDocuments != true || path.isEmpty || path[0] == HomeLayout.documents
        }
        return isShown ? volume(of: app) : nil
    }

    /// The volumes that are mounted, each once.
    public var volumes: [Volume] {
        state.withLock { state in
            state.device.map { [$0.volume] } ?? state.records.all.map(\.volume)
        }
    }

    // MARK: Mounting

    /// Mounts an app's home at a directory. The mount serves calls when this returns.
    /// - Throws: ``Complaint`` of kind `mountPoint`, `alreadyMounted`, `groupMounted`, `fuseMissing`,
    ///   `fuseConfiguration` or `shuttingDown`.
    public func mount(_ home: Home, at path: String, options: MountOptions) throws(Complaint) -> ActiveMount {
        try changing { () throws(Complaint) in
            guard !state.withLock({ $0.hasEnded }) else {
                throw Complaint(.shuttingDown, "the device is shutting down: try again when it has")
            }
            awaitUnmount(of: home.app)
            try state.withLock { $0.records }.requireFree(home, sharesSuperblock: isPrivileged)
            if state.withLock({ $0.watch == nil }) { try begin() }
            let place = try MountPoint.prepare(path)
            let slash = HostPath.lastSlash(in: directory) ?? directory.startIndex
            try MountPoint.requireHarmless(
                place, device: device, runtimeDirectory: String(directory[..<slash]), homesDirectory: homesDirectory)
            let serial = state.withLock { $0.records.makeSerial() }
            var record =
                isPrivileged
                ? try bind(home, options, serial, at: place) : try mountAlone(home, options, serial, at: place)
            record.number = MountNumber(at: place)
            state.withLock { [record] in $0.records.add(record) }
            do throws(SystemError) {
                // Through the mount: a session that cannot serve is found here, not by its first user.
                try ActingUser.asSuperuser { () throws(SystemError) in try HostPath.requireAnswer(place.current) }
            } catch {
                try? Session.unmount(place, lazily: true)
                _ = removeRecord(serial)
                throw Complaint(.unexpected, "the mount at \(place.path) does not answer: \(error.message)")
            }
            return record.mount
        }
    }

    /// Before the first mount: removes abandoned ones, and starts to watch the list of mounts.
    private func begin() throws(Complaint) {
        MountPoint.removeAbandoned(of: device)
        do throws(SystemError) {
            let watch = try MountWatch { [weak self] in self?.review() }
            state.withLock { $0.watch = watch }
        } catch {
            throw Complaint(.unexpected, "the list of mounts cannot be watched: \(error.message)")
        }
    }

    /// Waits briefly for the end of a mount that umount(8) has just removed: the kernel's notice of it and the end of
    /// its session may still be under way.
    private func awaitUnmount(of app: ContainerIdentifier) {
        guard mount(of: app) != nil || volume(of: app) != nil else { return }
        review()
        let deadline = ContinuousClock.now + .milliseconds(500)
        while mount(of: app) == nil, volume(of: app) != nil, ContinuousClock.now < deadline {
            usleep(2000)
        }
    }

    /// Binds a home from the device's mount, which is made first if there is none yet.
    private func bind(
        _ home: Home, _ options: MountOptions, _ serial: UInt64, at place: MountPlace
    ) throws(Complaint) -> MountRecord {
        let device: DeviceMount
        if let known = state.withLock({ $0.device }), !dropFailed(known) {
            try known.requireTransport(options.transport)
            device = known
        } else {
            device = try DeviceMount(
                device: self.device, directory: directory, volume: makeVolume(.device),
                transport: options.transport ?? transport, events: events)
            state.withLock { $0.device = device }
            _ = guardian?.mounted(
                at: device.superblock.entrance ?? "", over: device.superblock.session.transport)
        }
        var home = home
        home.isReadOnly = options.readOnly
        try device.bind(home, at: place, readOnly: options.readOnly)
        let mount = ActiveMount(
            app: home.app, mountPoint: place.path, options: options, transport: device.session.transport,
            serial: serial)
        return MountRecord(mount: mount, place: place, home: home, volume: device.volume, session: nil)
    }

    /// - Returns: true if the connection has failed: the next mount makes another.
    private func dropFailed(_ known: DeviceMount) -> Bool {
        guard known.session.waitUntilEnded(atMost: .zero) else { return false }
        state.withLock { $0.device = nil }
        known.end()
        return true
    }

    /// Mounts a home with a volume and a session of its own.
    private func mountAlone(
        _ home: Home, _ options: MountOptions, _ serial: UInt64, at place: MountPlace
    ) throws(Complaint) -> MountRecord {
        var home = home
        home.isReadOnly = options.readOnly
        let volume = makeVolume(.home(home))
        let mounted = VolumeFileSystem(volume, events: events)
        var settings = Session.Options(
            source: "\(device):\(home.app)", subtype: MountPoint.subtype, otherUsers: options.otherUsers)
        settings.readOnly = options.readOnly
        settings.transport = options.transport ?? transport
        settings.replyDropped = events.dropped
        settings.failed = events.failed
        let session = try translatingFailure { () throws(MountFailure) in
            try Session.mount(mounted, at: place.path, options: settings) { [weak self] in self?.finish(serial) }
        }
        mounted.attach(session)
        let mount = ActiveMount(
            app: home.app, mountPoint: place.path, options: options, transport: session.transport, serial: serial)
        Superblock(volume: volume, session: session, entrance: mount.mountPoint).boundDirtyPages()
        return MountRecord(
            mount: mount, place: place, home: home, volume: volume, session: session,
            connection: guardian?.mounted(at: mount.mountPoint, over: session.transport))
    }

    // MARK: The end of a mount

    /// Removes a mount's record, and reports its end. If another thread does so, waits for its report.
    func finish(_ serial: UInt64) {
        report(serial) {
            guard let record = removeRecord(serial), !record.isDetached else { return nil }
            return record.mount
        }
    }

    /// Reports the end of a mount, if this thread is the one that takes it out of sight.
    /// - Parameter take: takes it out of the table, or out of sight; nil if another thread has done so.
    private func report(_ serial: UInt64, _ take: () -> ActiveMount?) {
        // Before the record is gone: whoever misses it finds the report.
        reports.wait { $0.insert(serial).inserted ? () : nil }
        defer { reports.access { _ = $0.remove(serial) } }
        if let mount = take() { events.ended(mount) }
    }

    /// Waits until the ends that are being reported have been.
    func awaitReports() { reports.wait { $0.isEmpty ? () : nil } }

    /// Removes a mount's record, hides the home in the device's volume, and has the guard forget the connection.
    /// - Returns: nil if another thread has done so.
    private func removeRecord(_ serial: UInt64) -> MountRecord? {
        guard let record = state.withLock({ $0.records.remove(serial) }) else { return nil }
        if let connection = record.connection { guardian?.ended(connection) }
        if record.session == nil { record.volume.hide(record.mount.app) }
        return record
    }

    /// Ends the records of mounts that are gone from the kernel's list. When it returns their ends have been reported,
    /// whichever thread did so.
    public func review() {
        reviewRecords()
        awaitReports()
    }

    private func reviewRecords() {
        // The records first, because a mount is in the kernel's list before it is in the table.
        let records = state.withLock { $0.records.all }.filter { record in
            !record.isDetached && record.number?.isSurelyAt(record.mount.mountPoint) != true
        }
        if records.isEmpty { return }
        guard let list = try? MountInfo.all(from: "\(device):") else { return }
        for record in records {
            let source = "\(device):\(record.mount.app)"
            let isThere = list.contains {
                $0.mountPoint == record.mount.mountPoint && $0.type == MountPoint.type && $0.source == source
            }
            if !isThere { detach(record) }
        }
    }

    /// Handles a mount that is out of sight. A bind has ended with that; a session ends when nothing in it is in use.
    func detach(_ record: MountRecord) {
        guard record.session != nil else { return finish(record.mount.serial) }
        report(record.mount.serial) {
            state.withLock { $0.records.detach(record.mount.serial) } ? record.mount : nil
        }
    }
}
