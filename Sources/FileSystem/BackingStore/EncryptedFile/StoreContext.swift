// What every encrypted file of one device shares while the device is served.

public import DataProtection
public import Platform
public import SandboxModel
import Synchronization

/// How the times ended in which the device was served. Each has a number, and every page a file's structure is
/// made of bears the number of the session that wrote it: a page of a session that ended without a shutdown may be
/// followed by bytes that never came, and is looked at more closely.
public struct SessionHistory: Sendable {
    public enum Ending: Sendable {
        /// Shut down, or still going on: what its pages say is so.
        case orderly
        /// The process ended and the host went on: every write arrived in the order in which it was made.
        case killed
        /// The host stopped: writes after the last fsync arrived in any order, or not at all.
        case powerLost
    }

    /// When a session was, by the host's clock.
    public typealias Time = ClosedRange<HostTime>

    public let current: UInt32
    private let killed: Set<UInt32>
    private let powerLost: Set<UInt32>
    private let times: [UInt32: Time]

    /// - Parameter times: of the sessions that did not end in order, each until the next began. One that is missing may
    ///   have been at any time.
    public init(
        current: UInt32, killed: Set<UInt32> = [], powerLost: Set<UInt32> = [], times: [UInt32: Time] = [:]
    ) {
        self.current = current
        self.killed = killed
        self.powerLost = powerLost
        self.times = times
    }

    public func ending(of session: UInt32) -> Ending {
        if powerLost.contains(session) { return .powerLost }
        return killed.contains(session) ? .killed : .orderly
    }

    /// Whether a session that ended so was under way at some time.
    func isDuring(_ ending: Ending, _ time: HostTime) -> Bool {
        (ending == .killed ? killed : powerLost).contains { times[$0]?.contains(time) ?? true }
    }

    /// Whether the host stopped at some time after this session began.
    public func lostPower(since session: UInt32) -> Bool {
        powerLost.contains { $0 >= session }
    }

    public var hasLostPower: Bool { !powerLost.isEmpty }
}

/// Stored bytes that did not authenticate.
public struct Corruption: Hashable, Sendable {
    public enum Place: Hashable, Sendable {
        case header
        case length
        case group(Int)
        case block(Int64)
        /// An entry of a bundle, which is something else than was installed.
        case entry
        /// What a directory gives to what is made in it.
        case directoryClass
    }

    /// Inode number of the backing file or directory.
    public let inode: UInt64
    public let place: Place
}

/// Keys, session and working memory of a device that is being served.
public final class StoreContext: Sendable {
    public let keys: KeyRing
    public let history: SessionHistory
    /// The content that is open, whoever in this process has it open.
    public let content: OpenFileRegistry
    /// What the device's containers take, and may take.
    public let space: SpaceLedger
    /// When what can be purged was used last.
    public let uses: UseRecord
    let workspaces: WorkspacePool
    private let reporter: @Sendable (Corruption) -> Void
    private let reported = Mutex<Set<Corruption>>([])
    private let disturbed = Atomic<Bool>(false)

    /// - Parameter report: told once of each place that does not authenticate.
    public init(
        keys: KeyRing, history: SessionHistory, space: SpaceLedger = SpaceLedger(), uses: UseRecord = UseRecord(),
        report: @escaping @Sendable (Corruption) -> Void
    ) {
        self.keys = keys
        self.space = space
        self.uses = uses
        self.history = history
        reporter = report
        workspaces = WorkspacePool()
        content = OpenFileRegistry(keys: keys, workspaces: workspaces)
    }

    /// A context of the same device that reports to somebody else.
    public init(sharing other: StoreContext, report: @escaping @Sendable (Corruption) -> Void) {
        keys = other.keys
        history = other.history
        content = other.content
        space = other.space
        uses = other.uses
        workspaces = other.workspaces
        reporter = report
    }

    /// A context of the same device for what is being staged, which is counted as a whole when it has its place.
    public init(staging other: StoreContext) {
        keys = other.keys
        history = other.history
        content = other.content
        workspaces = other.workspaces
        space = SpaceLedger()
        uses = other.uses
        reporter = other.reporter
    }

    /// What the policy is asked with. The keys of a class are in the ring for as long as the state allows it, and, while
    /// the device locks, for as long as it takes to write out what the kernel holds.
    public var deviceState: DeviceState {
        get { content.deviceState }
        set { content.deviceState = newValue }
    }

    func report(_ corruption: Corruption) {
        let isNew = reported.withLock { reported in
            // A disk that is failing as a whole must not fill the memory with its list.
            reported.count < 10_000 && reported.insert(corruption).inserted
        }
        if isNew { reporter(corruption) }
    }

    /// Set when a write failed halfway and could not be taken back: the session must then be recorded as one that
    /// did not end in order, so that its pages are looked at more closely.
    public var isDisturbed: Bool { disturbed.load(ordering: .relaxed) }

    func markDisturbed() {
        disturbed.store(true, ordering: .relaxed)
    }

    /// Whether a page of this session may disagree with the blocks it describes.
    func isUncertain(_ session: UInt32) -> Bool {
        session == history.current ? isDisturbed : history.ending(of: session) != .orderly
    }
}
