// The state that all encrypted files of one device share while the device is served.

public import DataProtection
public import SandboxModel
import Synchronization

/// Keys, session and working memory of a device that is served.
public final class StoreContext: Sendable {
    public let keys: KeyRing
    public let history: SessionHistory
    /// The open files of this process, and the device's state.
    public let openFiles: OpenFileRegistry
    /// The space that the device's containers take, and may take.
    public let space: SpaceLedger
    /// The last use of each purgeable entry.
    public let uses: UseRecord
    let workspaces: WorkspacePool
    private let reporter: @Sendable (Corruption) -> Void
    private let reported = Mutex<Set<Corruption>>([])
    private let disturbed = Atomic<Bool>(false)

    /// Corruptions that are remembered as reported: a failing disk must not fill the memory.
    private static let mostReported = 10_000

    /// - Parameter report: called once for each place that does not authenticate, on the thread that found it. A file's
    ///   lock may be held, so it must not use the file.
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
        openFiles = OpenFileRegistry(keys: keys, workspaces: workspaces)
    }

    /// A context of the same device with another reporter.
    public init(sharing other: StoreContext, report: @escaping @Sendable (Corruption) -> Void) {
        keys = other.keys
        history = other.history
        openFiles = other.openFiles
        space = other.space
        uses = other.uses
        workspaces = other.workspaces
        reporter = report
    }

    /// A context of the same device for files that are staged: the ledger counts them as a whole once they are in
    /// place.
    public init(staging other: StoreContext) {
        keys = other.keys
        history = other.history
        openFiles = other.openFiles
        workspaces = other.workspaces
        space = SpaceLedger()
        uses = other.uses
        reporter = other.reporter
    }

    /// The state that the policy is asked with. The key ring may lag behind: while the device locks, it keeps the keys
    /// of class A until the kernel has written everything out.
    public var deviceState: DeviceState {
        get { openFiles.deviceState }
        set { openFiles.deviceState = newValue }
    }

    // MARK: Corruption

    func report(_ corruption: Corruption) {
        let isNew = reported.withLock { reported in
            reported.count < StoreContext.mostReported && reported.insert(corruption).inserted
        }
        if isNew { reporter(corruption) }
    }

    /// The class that a directory gives to new entries, by its attribute. Any value but the four counts as the
    /// strictest class, so that a new entry is never less protected than once chosen.
    public func classGiven(stored: [UInt8], inode: UInt64) -> ProtectionClass {
        if let protection = ProtectionClass(attributeValue: stored) { return protection }
        report(Corruption(inode: inode, place: .directoryClass))
        return .complete
    }

    // MARK: Failed writes

    /// Whether a write failed halfway. The session must then be recorded as one that did not end in order, so that its
    /// pages are verified more closely.
    public var isDisturbed: Bool { disturbed.load(ordering: .relaxed) }

    /// Records a write that failed halfway. Only the end of the session ends that state.
    func markDisturbed() {
        disturbed.store(true, ordering: .relaxed)
    }

    /// Whether a page of this session may disagree with the blocks that it describes.
    func isUncertain(_ session: UInt32) -> Bool {
        session == history.current ? isDisturbed : history.ending(of: session) != .orderly
    }
}
