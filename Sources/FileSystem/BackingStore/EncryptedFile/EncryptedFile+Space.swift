// The space that a backing file takes on the host: claimed before it grows, counted after.

import Glibc
import Platform
import SandboxModel

/// The bytes that the ledger counts for one backing file. Guarded by the file's lock.
struct BackingSpace {
    /// The bytes counted in ``StoreContext/space``.
    var charged: Int64 = 0
    /// Ranges of the backing file that fallocate(2) allocated since the file was opened.
    private var reserved = RangeSet<Int64>()

    mutating func reserve(_ range: Range<Int64>) { reserved.insert(contentsOf: range) }

    /// Removes a range that was punched out or cut off.
    mutating func unreserve(_ range: Range<Int64>) { reserved.remove(contentsOf: range) }

    func isReserved(_ range: Range<Int64>) -> Bool {
        !reserved.isEmpty && RangeSet(range).subtracting(reserved).isEmpty
    }
}

extension EncryptedFile {
    /// Claims an upper bound of the bytes that fallocate(2) of a range allocates. The caller holds the lock
    /// exclusively.
    func claimAllocation(_ offset: Int64, count: Int64) throws(Fault) -> Int64 {
        // In a longer range existing blocks are not looked for.
        guard count <= EncryptedFile.longestExamined else { return try context.space.claim(count, for: .call) }
        var missing: Int64 = 0
        try withWorkspace { workspace throws(Fault) in
            missing = try growth(from: offset, to: offset + count, workspace)
        }
        return try context.space.claim(missing, for: .call)
    }

    private static let longestExamined: Int64 = 1 << 30

    /// Counts an estimate of the bytes that a write allocated. The host is asked at the last writer's close: asking
    /// after each write costs two calls more for each file of an untar. The caller holds the lock exclusively.
    func countGrowth(_ bytes: Int64) {
        guard bytes > 0 else { return }
        setCharge(to: backingSpace.charged + bytes)
    }

    /// Counts the backing file's space by fstat(2). The caller holds the lock exclusively.
    func recountSpace() {
        let file = self.file
        // Without the times: asking for those slows the next fdatasync(2).
        guard let status = try? file.descriptor.status(writtenAt: timespec()) else { return }
        let now = context.space.weights.bytes(blocks: status.blocks, size: status.size)
        guard now != backingSpace.charged else { return }
        setCharge(to: now)
    }

    private func setCharge(to bytes: Int64) {
        context.space.recount(inode, from: backingSpace.charged, to: bytes)
        backingSpace.charged = bytes
    }

    /// Counts the backing file's space after a change of something else than its content.
    public func countSpace() { lock.writing { recountSpace() } }

    /// Counts nothing for the file any more: it has no name left.
    public func releaseSpace() { lock.writing { setCharge(to: 0) } }

    /// Reports the counted bytes to a count that has just begun.
    func reportSpace() {
        lock.reading { context.space.recordOpenFile(inode, backingSpace.charged) }
    }
}
