// A write of whole blocks that was sealed before the file's lock was held, and waits for whoever holds it.

import DataProtection
import Platform
import SandboxModel
import Synchronization

/// Whole blocks over existing ones, sealed into a workspace's image.
///
/// Lock: its fields belong to the thread that writes it, from the moment at which it joins a ``SealedRunQueue`` to the one
/// at which it is done; before and after, to its owner.
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
        var outcome = Outcome.refused

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
    let image: PageBuffer
    /// Nonce and tag of each block, as in its slot of the tag page.
    let seals = PageBuffer(count: capacity * BlockCipher.slotLength)
    var write = Write()
    let isDone = Atomic<Bool>(false)

    init(image: PageBuffer) {
        self.image = image
    }

    /// Gives the run back to its owner.
    func finish(_ outcome: Outcome) {
        write.outcome = outcome
        isDone.store(true, ordering: .releasing)
    }

    static func sealOffset(_ index: Int) -> Int { index * BlockCipher.slotLength }
}

/// The runs of one file that wait for the holder of its lock. Lock: a leaf. No object of its own: each open file has one.
struct SealedRunQueue: ~Copyable {
    private let waiting = Mutex<[SealedRun]>([])

    func add(_ run: SealedRun) {
        run.isDone.store(false, ordering: .relaxed)
        waiting.withLock { $0.append(run) }
    }

    /// Exchanges the runs that wait, in the order in which they came, for an empty array with room for the next.
    func take(_ runs: inout [SealedRun]) {
        waiting.withLock { swap(&$0, &runs) }
    }
}
