// A device being served by this process: booted, its session begun, its keys as far at hand as its state allows.
// Locks: `changes` is held for the whole of an operation that changes which apps there are, `attempts` for the whole of
// one that takes a passcode; `state` below either, for moments only. Nothing of the volume is called under any of them.

public import BackingStore
import DataProtection
import Platform
public import SandboxModel
import Synchronization

/// A device that this process alone serves, from its boot to ``shutDown()``.
public final class Device: Sendable {
    public let directory: DeviceDirectory
    public let session: DeviceSession
    /// What the files of the device's containers share: keys and session.
    public let context: StoreContext
    /// The same for what is not a part of a container yet.
    let stagingContext: StoreContext

    private struct State {
        var keybag: Keybag
        var registry: AppRegistry
        var hasEnded = false
    }

    let lock: DeviceLock
    private let state: Mutex<State>
    /// One change at a time.
    let changes = ReadWriteLock()
    /// What is not to be removed from the staging directory.
    let stagingUse = StagingUse()
    /// One attempt with a passcode at a time.
    let attempts = ReadWriteLock()
    /// Whether what the containers take is known.
    let spaceIsCounted: Atomic<Bool>
    /// By what the wait after wrong passcodes is measured.
    let clock: @Sendable () throws(Complaint) -> HostInstant
    /// Told at each ``Milestone``.
    let reached: @Sendable (Milestone) -> Void

    private init(
        directory: DeviceDirectory, lock: DeviceLock, session: DeviceSession, keybag: Keybag, keys: KeyRing,
        report: @escaping @Sendable (Corruption) -> Void, reached: @escaping @Sendable (Milestone) -> Void,
        clock: @escaping @Sendable () throws(Complaint) -> HostInstant
    ) throws(Complaint) {
        self.directory = directory
        self.clock = clock
        self.lock = lock
        self.session = session
        self.reached = reached
        let settings = directory.settings
        // Where the host does not say what it is, nothing is lost but a little accuracy.
        let host = (try? directory.root.filesystemType()) ?? (type: 0, blockSize: 0)
        let space = SpaceLedger(
            used: session.used ?? 0, capacity: settings.capacity, marks: settings.marks ?? .usual,
            weights: SpaceWeights(ofFilesystem: host.type, blockSize: host.blockSize),
            host: { directory.hostSpace })
        spaceIsCounted = Atomic(session.used != nil)
        context = StoreContext(keys: keys, history: session.history, space: space, report: report)
        stagingContext = StoreContext(staging: context)
        state = Mutex(State(keybag: keybag, registry: try directory.registry()))
    }

    // MARK: Boot and end

    /// Boots a device: takes it for this process, begins a session, and removes what an interrupted operation left.
    ///
    /// With a passcode the device is then before first unlock, without one it is unlocked.
    ///
    /// - Parameter report: told once of each place in a file that does not authenticate.
    /// - Throws: ``Complaint`` of kind `deviceMissing`, `notADevice`, `newerFormat`, `deviceBusy` or `damaged`.
    public static func boot(
        at path: String, report: @escaping @Sendable (Corruption) -> Void
    ) throws(Complaint) -> Device {
        try boot(at: path, report: report, reached: { _ in })
    }

    static func boot(
        at path: String, report: @escaping @Sendable (Corruption) -> Void,
        reached: @escaping @Sendable (Milestone) -> Void,
        clock: @escaping @Sendable () throws(Complaint) -> HostInstant = HostInstant.now
    ) throws(Complaint) -> Device {
        let directory = try DeviceDirectory.open(at: path)
        let lock = try directory.lock()
        // The keys first: a device that cannot be opened is left as it is.
        let (keybag, uidKey) = try directory.openKeybag()
        let keys = try Complaint.wrapKeybag(path) { () throws(KeybagFault) in
            try keybag.openWithoutPasscode(uidKey: uidKey)
        }
        try directory.removeLeftovers(holding: lock)
        let session = try directory.beginSession(holding: lock)
        let device = try Device(
            directory: directory, lock: lock, session: session, keybag: keybag, keys: keys, report: report,
            reached: reached, clock: clock)
        device.beginWait()
        return device
    }

    /// Ends the session. Every file of the device is closed by then.
    ///
    /// A session in which a write failed halfway is not recorded as ended, so that the next one looks closely.
    public func shutDown() throws(Complaint) {
        try changes.writing { () throws(Complaint) in
            state.withLock { $0.hasEnded = true }
            // What was still in use when it was replaced is so no more: every mount has ended.
            _ = try? directory.emptyStaging()
            guard !context.isDisturbed else { return }
            let isCounted = spaceIsCounted.load(ordering: .acquiring)
            try directory.endSession(used: isCounted ? context.space.used : nil, holding: lock)
        }
    }

    /// Lets others have the device, after ``shutDown()``, before this process ends.
    public func release() {
        lock.release()
    }

    /// Deletes the device after ``shutDown()``, with whatever else lies in its directory. Nobody can have it in between.
    public func delete() throws(Complaint) {
        try directory.delete(holding: lock, withStrangers: true)
    }

    /// Whether this process may change nothing of the device any more.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    // MARK: State

    /// Whether every key lies in memory that is locked. It does not where the limit of lockable memory is too small.
    public var keysAreLocked: Bool { SecretMemory.isLocked }

    /// The identifier of the keybag: what is sealed under its keys can be read with no other.
    var keybagIdentifier: [UInt8] { state.withLock { $0.keybag.identifier } }

    public var hasPasscode: Bool { state.withLock { $0.keybag.hasPasscode } }

    /// Durable when it returns; a process that ends before leaves the old keybag or the new one.
    func replaceKeybag(with keybag: Keybag) throws(Complaint) {
        try directory.replaceKeybag(with: keybag.encoded(), holding: lock)
        state.withLock { $0.keybag = keybag }
    }

    // MARK: Apps

    /// Every installed app, by identifier.
    public var apps: [InstalledApp] { registry.apps }

    /// Which apps there are, and what waits for its own.
    public var registry: AppRegistry { state.withLock { $0.registry } }

    /// - Throws: ``Complaint`` of kind `unknownApp`.
    public func app(_ identifier: ContainerIdentifier) throws(Complaint) -> InstalledApp {
        guard let app = apps.first(where: { $0.identifier == identifier }) else { throw unknownApp(identifier) }
        return app
    }

    func unknownApp(_ identifier: ContainerIdentifier) -> Complaint {
        Complaint(
            .unknownApp, "\(identifier) is not installed; see what is with: appcontainer apps \(directory.path)")
    }

    /// Runs an operation that changes apps or containers, one at a time.
    func changing<Result: Sendable>(
        _ body: (AppChanges) throws(Complaint) -> Result
    ) throws(Complaint) -> Result {
        try changes.writing { () throws(Complaint) in try body(AppChanges(device: self)) }
    }

    /// Waits until no operation that changes apps or containers is under way.
    public func awaitChange() {
        changes.writing {}
    }

    fileprivate func replaceRegistry(_ registry: AppRegistry) throws(Complaint) {
        try directory.replaceRegistry(registry, holding: lock)
        state.withLock { $0.registry = registry }
    }

    fileprivate func removeLeftovers() throws(Complaint) {
        try directory.removeLeftovers(holding: lock, keeping: stagingUse.names)
    }
}

/// The right to change the registry, which an operation has while no other is under way. It would be noncopyable, but
/// the optimizer of Swift 6.3.1 does not survive a closure that takes one.
struct AppChanges {
    private let device: Device

    fileprivate init(device: Device) {
        self.device = device
    }

    /// Enters an app in the registry, in place of one with its identifier: the moment at which it is installed. What has
    /// waited for it does so no more.
    func register(_ app: InstalledApp) throws(Complaint) {
        let own = Set(app.containers.map(\.uuid))
        var registry = device.registry
        registry.apps = registry.apps.filter { $0.identifier != app.identifier } + [app]
        registry.waiting.removeAll { own.contains($0.uuid) }
        try bring(registry)
    }

    /// Takes an app out of the registry: the moment at which it is gone.
    func unregister(_ app: InstalledApp) throws(Complaint) {
        var registry = device.registry
        registry.apps.removeAll { $0.identifier == app.identifier }
        try replace(with: registry)
    }

    /// Replaces the registry, and counts what comes and goes with that. All containers are in their places.
    func replace(with registry: AppRegistry) throws(Complaint) {
        let before = device.registry.places
        try bring(registry)
        let known = registry.containers
        device.countGoing(before.filter { !known.contains($0.uuid) })
    }

    private func bring(_ registry: AppRegistry) throws(Complaint) {
        let known = device.registry.containers
        try device.replaceRegistry(registry)
        for (kind, uuid) in registry.places where !known.contains(uuid) { device.countComing(kind, uuid) }
    }

    /// What no operation can be at work on now.
    func removeLeftovers() throws(Complaint) {
        try device.removeLeftovers()
    }
}

/// The moments between the steps of an operation: at each, a process that ends leaves a whole device behind.
enum Milestone: String, CaseIterable, Sendable {
    case stagedBundle, sealedBundle, stagedData, stagedShared, synchronized, movedOne, moved, registered
    case unregistered, movedAway, removed
    case namedBoth, laidReady, exchangedOne, renamed, retiredBundle
    case stagedReset, exchanged
    case stagedDelivery, madeInbox, deliveredOne
    case countedAttempt, provedPasscode, clearedAttempts, replacedKeybag
}
