// Whether a file is synchronized after each write: databases and logs do so, and nearly nothing else.

import Platform

/// Watches the writes and synchronizations of one file.
///
/// A page that is on its way to the disk and is written once more goes there twice, so pages are sent off early only
/// where every write was followed by a synchronization, not by another write.
struct SyncHabit {
    /// Bytes of the backing file that were written since the last synchronization, in one write.
    private var written: Range<Int64>?
    private var writes = 0
    private var synchronizedWrites = 0

    /// How many writes in a row make a habit.
    private static let habit = 3

    mutating func wrote(_ range: Range<Int64>) {
        written = range
        writes += 1
        if writes > 1 { synchronizedWrites = 0 }
    }

    mutating func synchronized() {
        if writes == 1 { synchronizedWrites = min(synchronizedWrites + 1, SyncHabit.habit) }
        writes = 0
        written = nil
    }

    /// What is going to be synchronized next, if the habit goes on.
    var expected: Range<Int64>? {
        writes == 1 && synchronizedWrites == SyncHabit.habit ? written : nil
    }
}

/// What an application is going to synchronize next, as it did each time before: the disk can be at work while the
/// request comes.
public struct EarlyWriteback {
    let file: SharedDescriptor
    let range: Range<Int64>

    /// To be called when the write is answered, and nobody waits.
    public func begin() {
        file.descriptor.beginWriteback(from: range.lowerBound, count: range.upperBound - range.lowerBound)
    }
}
