// What may be done with the content of an open file: its key comes and goes with the state of the device.

import DataProtection
import Platform
import SandboxModel
import Synchronization

extension EncryptedFile {
    enum Access {
        case full
        /// The device locks: what the kernel holds is still written out, and nothing is read any more.
        case writingOut
        /// The device is locked: there is no key.
        case closed
        /// The device has restarted since the file was opened. There is no key, and none comes back.
        case retired
    }

    /// Whether the content is of class A, whose plaintext must not stay in memory.
    public var isComplete: Bool { complete.load(ordering: .relaxed) }

    /// The key, where ``requireReading()`` or ``requireWriting()`` has found that there is one.
    var key: FileKey { heldKey! }

    /// To be asked with the lock held, by all that reads or changes content.
    @inline(__always)
    func requireReading() throws(Fault) {
        if access != .full { throw refusal }
    }

    /// To be asked with the lock held, by what takes in bytes that were written.
    @inline(__always)
    func requireWriting() throws(Fault) {
        if access != .full, access != .writingOut { throw refusal }
    }

    private var refusal: Fault { access == .retired ? .system(.inputOutput) : .refused(.dataProtection) }

    func setAccess(_ access: Access) {
        lock.writing {
            if self.access != .retired { self.access = access }
        }
    }

    /// Lets go of the key; the last reference to it zeroes it. The header says how long the content is.
    func takeKey() {
        lock.writing {
            guard access != .retired else { return }
            letGo()
            access = .closed
        }
    }

    func retire() {
        lock.writing {
            letGo()
            // Now, and not when the last descriptor is closed: by then the file may have a later one.
            try? writeModificationTime()
            forgetModificationTime()
            access = .retired
        }
    }

    private func letGo() {
        guard heldKey != nil else { return }
        if header.isOpen, isWritable {
            // A header that cannot be written stays open, and is settled when the file is opened next.
            try? withWorkspace { workspace throws(Fault) in try commitStructure(workspace) }
        }
        heldKey = nil
    }

    /// Unwraps the key again. Where that fails, which it did not when the file was opened, the content stays closed.
    func restoreKey() {
        lock.writing {
            guard access == .closed || access == .writingOut else { return }
            if heldKey == nil {
                guard let protection = ProtectionClass(rawValue: header.protectionRawValue),
                    let blob = header.wrappedKeyBytes,
                    let key = try? context.keys.unwrap(WrappedFileKey(protection: protection, blob: blob))
                else { return }
                heldKey = key
            }
            access = .full
        }
    }

    // MARK: What must not stay in memory

    /// Lends a workspace, and leaves no plaintext of class A in it.
    func withWorkspace(_ body: (Workspace) throws(Fault) -> Void) throws(Fault) {
        try context.workspaces.with { workspace throws(Fault) in
            defer { if isComplete { workspace.wipePlaintext() } }
            try body(workspace)
        }
    }

    // MARK: What did not get here

    /// Remembers a range that the kernel wanted written when there was no key any more. It has told the application that
    /// it is written, and may have no page of it: read again, the range must be neither zeros nor what was there before.
    /// The caller holds the lock.
    func recordLoss(_ range: Range<Int64>) {
        guard access == .closed || access == .retired else { return }
        lost.insert(contentsOf: range)
        untoldLoss.insert(contentsOf: range)
    }

    /// A range that has come to be what the application wants, or to lie behind the end. The caller holds the lock.
    @inline(__always)
    func endLoss(_ range: Range<Int64>) {
        if !lost.isEmpty { lost.remove(contentsOf: range) }
    }

    @inline(__always)
    func requireNoLoss(_ range: Range<Int64>) throws(Fault) {
        guard !lost.isEmpty else { return }
        if !lost.intersection(RangeSet(range)).isEmpty { throw .system(.inputOutput) }
    }

    /// Whether there is no key because the device is locked; it comes back.
    public var isClosed: Bool { lock.reading { access == .closed } }

    /// Whether the device has restarted since the file was opened.
    public var isRetired: Bool { lock.reading { access == .retired } }

    public var hasLoss: Bool { lock.reading { !lost.isEmpty } }

    /// The ranges that were lost and that nobody was told of yet.
    public func takeUnreportedLoss() -> [Range<Int64>] {
        lock.writing {
            defer { untoldLoss = RangeSet() }
            return Array(untoldLoss.ranges)
        }
    }
}
