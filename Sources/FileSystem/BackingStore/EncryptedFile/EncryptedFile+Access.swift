// Access to the content of an open file while the device locks, unlocks and restarts. Its key goes and returns with it.

import DataProtection
import Platform
import SandboxModel
import Synchronization

extension EncryptedFile {
    /// Access to the content, by the device's state. Changed by ``OpenFileRegistry``, for class A and at a restart.
    enum Access {
        case full
        /// The device locks: writeback is still accepted, reads are refused.
        case writingOut
        /// The device is locked: there is no key.
        case closed
        /// The device restarted since the file was opened: there is no key, and none returns.
        case retired
    }

    /// Whether the class is A: no plaintext may stay in memory.
    public var isComplete: Bool { complete.load(ordering: .relaxed) }

    /// The key. Only after ``requireReading()`` or ``requireWriting()`` has passed.
    var key: FileKey { heldKey! }

    // MARK: Checks

    /// - Throws: EIO after a restart, `refused(.dataProtection)` in other states. The caller holds the lock.
    @inline(__always)
    func requireReading() throws(Fault) {
        if access != .full { throw refusal }
    }

    /// As ``requireReading()``, for bytes that are written: accepted also while the device locks.
    @inline(__always)
    func requireWriting() throws(Fault) {
        if access != .full, access != .writingOut { throw refusal }
    }

    private var refusal: Fault { access == .retired ? .system(.inputOutput) : .refused(.dataProtection) }

    /// Whether the key is gone because the device is locked; it returns with the unlock.
    public var isClosed: Bool { lock.reading { access == .closed } }

    /// Whether the device restarted since the file was opened.
    public var isRetired: Bool { lock.reading { access == .retired } }

    // MARK: Changes

    /// Changes the access, except for a file that a restart has retired. Takes the lock exclusively.
    func setAccess(_ access: Access) {
        lock.writing {
            if self.access != .retired { self.access = access }
        }
    }

    /// Drops the key: the last reference zeroes it. The length is committed first.
    func takeKey() {
        lock.writing {
            guard access != .retired else { return }
            dropKey()
            access = .closed
        }
    }

    /// Drops the key for good.
    func retire() {
        lock.writing {
            dropKey()
            // Not at the close of the last descriptor: by then another process may have set a later time.
            try? settleModificationTime()
            (keptModificationTime, earlierModificationTime) = (nil, nil)
            access = .retired
        }
    }

    private func dropKey() {
        guard heldKey != nil else { return }
        if header.isOpen, isWritable {
            // If that fails the header stays open, and the next opening recovers the length.
            try? withWorkspace { workspace throws(Fault) in try commitStructure(workspace) }
        }
        heldKey = nil
    }

    /// Unwraps the key again after an unlock. The content stays closed if that fails.
    func restoreKey() {
        lock.writing {
            guard access == .closed || access == .writingOut else { return }
            if heldKey == nil {
                guard let wrapped = header.wrappedKey, let key = try? context.keys.unwrap(wrapped) else { return }
                heldKey = key
            }
            access = .full
        }
    }

    /// Lends a workspace, and leaves no plaintext of class A in it.
    func withWorkspace(_ body: (Workspace) throws(Fault) -> Void) throws(Fault) {
        try context.workspaces.with { workspace throws(Fault) in
            defer { if isComplete { workspace.wipePlaintext() } }
            try body(workspace)
        }
    }
}
