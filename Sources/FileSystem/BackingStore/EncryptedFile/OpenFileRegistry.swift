// The content that is open in this process, so that its keys and its plaintext can be taken away from all of it at once.
// Lock: `files` is taken with no lock of a file held, and released before one is taken.

import DataProtection
import SandboxModel
import Synchronization

/// Every encrypted file that is open, whether by the mount, by a check or by a delivery, and the device's state.
///
/// While a device locks, what the kernel has not written out yet still has to be sealed. So class A closes in steps:
/// first nothing new is opened (``deviceState``), then nothing is read (``refuseReading()``), then the keys go
/// (``close()``).
public final class OpenFileRegistry: Sendable {
    private struct Files {
        var open: [ObjectIdentifier: Weak] = [:]
        /// Whether files of class A may be opened. It differs from the state while that is changing.
        var admitsComplete = true
    }

    private struct Weak {
        weak var file: EncryptedFile?
    }

    private let keys: KeyRing
    private let workspaces: WorkspacePool
    private let files: Mutex<Files>
    private let state: Atomic<UInt8>

    init(keys: KeyRing, workspaces: WorkspacePool) {
        self.keys = keys
        self.workspaces = workspaces
        let isUnlocked = keys.isAvailable(.complete)
        state = Atomic(isUnlocked ? DeviceState.unlocked.number : DeviceState.beforeFirstUnlock.number)
        files = Mutex(Files(admitsComplete: isUnlocked))
    }

    var deviceState: DeviceState {
        get { DeviceState(number: state.load(ordering: .acquiring)) }
        set { state.store(newValue.number, ordering: .releasing) }
    }

    /// Whether class A is closed.
    public var isClosed: Bool { files.withLock { !$0.admitsComplete } }

    /// Enters a file that is being opened. Nobody else has it yet.
    /// - Throws: `refused(.dataProtection)` for one of class A while that is being closed.
    func add(_ file: EncryptedFile) throws(Fault) {
        let isAdmitted = files.withLock { files in
            guard files.admitsComplete || !file.isComplete else { return false }
            files.open[ObjectIdentifier(file)] = Weak(file: file)
            return true
        }
        guard isAdmitted else { throw .refused(.dataProtection) }
    }

    /// Takes a file out that is about to be gone.
    func remove(_ file: ObjectIdentifier) {
        files.withLock { _ = $0.open.removeValue(forKey: file) }
    }

    /// Calls the body for each file that is open, with no lock held.
    private func forEach(_ body: (EncryptedFile) -> Void) {
        for weak in files.withLock({ Array($0.open.values) }) {
            if let file = weak.file { body(file) }
        }
    }

    /// The inode numbers of the files that are open.
    public var inodes: Set<UInt64> {
        var inodes: Set<UInt64> = []
        forEach { inodes.insert($0.inode) }
        return inodes
    }

    /// Has each open file say what is counted for it.
    func reportSpace() {
        forEach { $0.reportSpace() }
    }

    // MARK: Locking and unlocking

    /// Refuses to read class A; what the kernel still writes out is taken.
    public func refuseReading() {
        files.withLock { $0.admitsComplete = false }
        forEach { if $0.isComplete { $0.setAccess(.writingOut) } }
    }

    /// Takes the keys of class A out of every file, and their schedules and plaintext out of the working memory. What the
    /// kernel writes from then on is refused.
    public func close() {
        files.withLock { $0.admitsComplete = false }
        forEach { if $0.isComplete { $0.takeKey() } }
        workspaces.wipe()
    }

    /// Gives the keys of class A back. The class's own is in the ring.
    public func reopen() {
        forEach { if $0.isComplete { $0.restoreKey() } }
        files.withLock { $0.admitsComplete = true }
    }

    /// Waits until no thread has plaintext in its hands that it read before ``close()`` or
    /// ``retireAll(admittingComplete:)``. Never with a lock held that a read takes.
    public func waitForReaders() {
        workspaces.waitForReturns()
    }

    // MARK: Restart

    /// Takes the keys out of every file, for good: the device has restarted, and what was open belongs to no process
    /// that is left. Its content answers EIO from then on.
    /// - Parameter admitsComplete: whether files of class A may be opened again at once.
    public func retireAll(admittingComplete admitsComplete: Bool) {
        files.withLock { $0.admitsComplete = admitsComplete }
        forEach { $0.retire() }
        workspaces.wipe()
    }
}

extension DeviceState {
    /// As an atomic holds it.
    fileprivate var number: UInt8 {
        switch self {
        case .beforeFirstUnlock: 0
        case .unlocked: 1
        case .locking: 2
        case .locked: 3
        }
    }

    fileprivate init(number: UInt8) {
        self =
            switch number {
            case 0: .beforeFirstUnlock
            case 1: .unlocked
            case 2: .locking
            default: .locked
            }
    }
}
