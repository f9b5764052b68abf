// Early writeback for files that are synchronized after each write, as databases and logs are.

import Platform

/// Recognizes a file whose every write is followed by fsync(2). Guarded by the file's lock.
///
/// A page that is written again while its writeback is under way goes to the disk twice. So writeback begins early only
/// after several writes in a row were each synchronized before the next.
struct SyncHabit {
    /// The range of the backing file of the last write since a synchronization.
    private var written: Range<Int64>?
    private var writes = 0
    private var synchronizedWrites = 0

    /// Synchronized writes in a row that make a habit.
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

    /// The range that the next fsync(2) will write, if the habit goes on.
    var expected: Range<Int64>? {
        writes == 1 && synchronizedWrites == SyncHabit.habit ? written : nil
    }
}

/// A range of a backing file that the application will probably synchronize next. Its writeback can begin before the
/// request arrives.
public struct EarlyWriteback {
    let file: SharedDescriptor
    let range: Range<Int64>

    /// Begins the writeback. Called after the reply to the write, when nobody waits.
    public func begin() {
        file.descriptor.beginWriteback(from: range.lowerBound, count: range.upperBound - range.lowerBound)
    }
}
