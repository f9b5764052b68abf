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
    let sealedRuns: SealedRunPool
    private let reporter: @Sendable (Corruption) -> Void
    private let reported = Mutex<Set<Corruption>>([])
    private let disturbance: Disturbance

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
        sealedRuns = SealedRunPool()
        disturbance = Disturbance()
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
        sealedRuns = other.sealedRuns
        disturbance = other.disturbance
        reporter = report
    }

    /// A context of the same device for files that are staged: the ledger counts them as a whole once they are in
    /// place.
    public init(staging other: StoreContext) {
        keys = other.keys
        history = other.history
        openFiles = other.openFiles
        workspaces = other.workspaces
        sealedRuns = other.sealedRuns
        disturbance = other.disturbance
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

    /// Whether a write failed halfway in this session.
    public var isDisturbed: Bool { !disturbance.isNone }

    /// The files in which a write failed halfway. They are recorded with the end of the session, so that their pages
    /// are verified more closely.
    public var disturbedFiles: [DisturbedFile] { disturbance.files }

    /// Records a write that failed halfway. Only the end of the session ends that state.
    func markDisturbed(_ file: FileIdentity) {
        disturbance.add(file)
    }

    /// Records that a closed header on the host agrees with the length of the backing file again.
    @inline(__always)
    func settleLength(of file: FileIdentity) {
        if isDisturbed { disturbance.settleLength(of: file) }
    }

    /// Whether a page of a file, written in this session, may disagree with the blocks that it describes.
    func isUncertain(_ session: UInt32, of file: FileIdentity) -> Bool {
        session == history.current
            ? disturbance.lengthIsUncertain(file) != nil
            : history.ending(of: session) != .orderly || history.isUnfinished(file, in: session)
    }

    /// Whether a closed header of a session may disagree with the length of the backing file. Of another device that
    /// explains nothing: a file that somebody has cut there would pass for one whose writer was killed.
    func isLengthUncertain(_ session: UInt32, of file: FileIdentity) -> Bool {
        if history.isOfAnotherDevice { return false }
        return session == history.current
            ? disturbance.lengthIsUncertain(file) == true
            : history.ending(of: session) != .orderly || history.isLengthUnfinished(file, in: session)
    }
}

/// A file in which a write failed halfway in this session.
public struct DisturbedFile: Hashable, Sendable {
    let identity: FileIdentity
    /// Whether its header may still disagree with the length of the backing file.
    let lengthIsUncertain: Bool
}

/// The files in which a write failed halfway in this session. Lock: a leaf.
private final class Disturbance: Sendable {
    private let any = Atomic<Bool>(false)
    /// Each with whether its length is uncertain.
    private let lengths = Mutex<[FileIdentity: Bool]>([:])

    /// Without taking the lock: it is asked for at every page.
    var isNone: Bool { !any.load(ordering: .acquiring) }

    var files: [DisturbedFile] {
        lengths.withLock { $0.map { DisturbedFile(identity: $0.key, lengthIsUncertain: $0.value) } }
    }

    /// - Returns: nil if no write failed in the file.
    func lengthIsUncertain(_ file: FileIdentity) -> Bool? { isNone ? nil : lengths.withLock { $0[file] } }

    func add(_ file: FileIdentity) {
        lengths.withLock { $0[file] = true }
        any.store(true, ordering: .releasing)
    }

    func settleLength(of file: FileIdentity) {
        lengths.withLock { if $0[file] != nil { $0[file] = false } }
    }
}
