// A write of whole blocks that was sealed before the file's lock was held, and waits for the holder of that lock.

import DataProtection
import Platform
import SandboxModel
import Synchronization

/// Whole blocks over existing ones, sealed into an image.
///
/// Lock: its fields belong to the thread that writes it, from the moment at which it joins a ``SealedRunQueue`` to the
/// one at which it is done; before and after, to its owner. An acknowledged one has no owner any more.
final class SealedRun: @unchecked Sendable {
    /// The most blocks. Longer writes need the lock for a smaller part of their time.
    static let capacity = 16

    enum Outcome {
        /// Not written: the owner writes it as any other write.
        case refused
        case written(EarlyWriteback?)
        case failed(Fault)
    }

    struct Write {
        /// All in one group.
        var blocks: Range<Int64> = 0..<0
        /// ``FileKey/serial`` of the key that sealed the blocks.
        var key: UInt64 = 0
        var purpose = SpaceLedger.Purpose.call
        /// Whether they are pages of the kernel's cache, for no call that waits for them.
        var isFromCache = false
        var outcome = Outcome.refused
        /// Whether the kernel was told that it is written.
        var isAcknowledged = false

        var group: Int { ContentLayout.group(of: blocks.lowerBound) }

        /// The blocks' places in their group, a bit for each.
        var places: UInt64 {
            (UInt64(1) << UInt64(blocks.count) - 1) << UInt64(ContentLayout.index(of: blocks.lowerBound))
        }

        /// In bytes of content.
        var range: Range<Int64> {
            let size = Int64(ContentLayout.blockSize)
            return blocks.lowerBound * size..<blocks.upperBound * size
        }
    }

    /// The blocks' ciphertext, one behind the other.
    let image = PageBuffer(count: capacity * ContentLayout.blockSize)
    /// Nonce and tag of each block, as in its slot of the tag page.
    let seals = PageBuffer(count: capacity * BlockCipher.slotLength)
    var write = Write()
    let isDone = Atomic<Bool>(false)

    fileprivate init() {}

    /// Gives the run back to its owner.
    func finish(_ outcome: Outcome) {
        write.outcome = outcome
        isDone.store(true, ordering: .releasing)
    }

    static func sealOffset(_ index: Int) -> Int { index * BlockCipher.slotLength }
}

/// The runs of a device. A write takes one, and whoever writes its blocks gives it back; there are as many as ever
/// waited at once.
final class SealedRunPool: Sendable {
    // Lock: innermost. Runs hold ciphertext only, so a lock of the device need not zero them.
    private let idle = ShortLock<[SealedRun]>([])

    func take() -> SealedRun { idle.withLock { $0.popLast() } ?? SealedRun() }

    func give(_ run: SealedRun) { idle.withLock { $0.append(run) } }
}
