// The registry of open files: when the device locks or restarts, keys and plaintext are taken from all of them at once.
// Lock: `files` is taken with no lock of a file held, and released before one is taken.

import DataProtection
import Platform
import SandboxModel
import Synchronization

/// Every encrypted file that this process has open, whether for the mount, a check or a delivery, and the device's
/// state.
///
/// While a device locks, the kernel's dirty pages still have to be sealed. So class A closes in steps: first no file is
/// opened (``deviceState``), then none is read (``refuseReading()``), then the keys go (``close()``).
public final class OpenFileRegistry: Sendable {
    private struct Files {
        var open: [ObjectIdentifier: Weak] = [:]
        /// Whether files of class A may be opened. Differs from the state while that is changing.
        var admitsComplete = true
        /// The most that were open since memory was given back.
        var most = 0
    }

    /// From so many files on, the end of their use gives memory back.
    private static let burst = 1024

    private struct Weak {
        weak var file: EncryptedFile?
    }

    private let keys: KeyRing
    private let workspaces: WorkspacePool
    private let files: ShortLock<Files>
    private let state: Atomic<UInt8>

    init(keys: KeyRing, workspaces: WorkspacePool) {
        self.keys = keys
        self.workspaces = workspaces
        let isUnlocked = keys.isAvailable(.complete)
        state = Atomic(isUnlocked ? DeviceState.unlocked.number : DeviceState.beforeFirstUnlock.number)
        files = ShortLock(Files(admitsComplete: isUnlocked))
    }

    var deviceState: DeviceState {
        get { DeviceState(number: state.load(ordering: .acquiring)) }
        set { state.store(newValue.number, ordering: .releasing) }
    }

    /// Whether class A is closed.
    public var isClosed: Bool { files.withLock { !$0.admitsComplete } }

    /// Adds a file that is being opened. No other thread has it yet.
    /// - Throws: `refused(.dataProtection)` for a file of class A while that is closed.
    func add(_ file: EncryptedFile) throws(Fault) {
        let isAdmitted = files.withLock { files in
            guard files.admitsComplete || !file.isComplete else { return false }
            files.open[ObjectIdentifier(file)] = Weak(file: file)
            files.most = max(files.most, files.open.count)
            return true
        }
        guard isAdmitted else { throw .refused(.dataProtection) }
    }

    /// Removes a file that is being deallocated.
    func remove(_ file: ObjectIdentifier) {
        let isEndOfBurst = files.withLock { files in
            files.open.removeValue(forKey: file)
            guard files.most >= OpenFileRegistry.burst, files.open.count <= files.most / 8 else { return false }
            files.most = files.open.count
            if files.open.isEmpty { files.open = [:] }
            return true
        }
        // The pages of each file were in the arena of the thread that made them, which keeps them.
        if isEndOfBurst { FreeMemory.giveBack() }
    }

    /// Calls the body for each open file, with no lock held.
    private func forEach(_ body: (EncryptedFile) -> Void) {
        for weak in files.withLock({ Array($0.open.values) }) {
            if let file = weak.file { body(file) }
        }
    }

    /// The inode numbers of the open files.
    public var inodes: Set<UInt64> {
        var inodes: Set<UInt64> = []
        forEach { inodes.insert($0.inode) }
        return inodes
    }

    /// Has each open file report its counted bytes to the ledger.
    func reportSpace() {
        forEach { $0.reportSpace() }
    }

    // MARK: Locking and unlocking

    /// Refuses reads of class A. Writeback is still accepted.
    public func refuseReading() {
        files.withLock { $0.admitsComplete = false }
        forEach { if $0.isComplete { $0.setAccess(.writingOut) } }
    }

    /// Takes the keys of class A from every file, and their schedules and plaintext from the workspaces. Writeback is
    /// refused from then on.
    public func close() {
        files.withLock { $0.admitsComplete = false }
        forEach { if $0.isComplete { $0.takeKey() } }
        workspaces.wipe()
    }

    /// Gives the files of class A their keys back. The class key is in the ring.
    public func reopen() {
        forEach { if $0.isComplete { $0.restoreKey() } }
        files.withLock { $0.admitsComplete = true }
    }

    /// Waits until every call that may hold plaintext from before ``close()`` or ``retireAll(admittingComplete:)`` is
    /// over. Called with no lock held that a read takes.
    public func waitForReaders() {
        workspaces.waitForReturns()
    }

    // MARK: Restart

    /// Takes the keys from every file for good: the device restarted, and no process that had a file open is left. The
    /// files answer EIO from then on.
    /// - Parameter admitsComplete: whether files of class A may be opened again at once.
    public func retireAll(admittingComplete admitsComplete: Bool) {
        files.withLock { $0.admitsComplete = admitsComplete }
        forEach { $0.retire() }
        workspaces.wipe()
    }
}

extension DeviceState {
    /// The value in an atomic.
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
