// The names in a directory that are not durable yet.

import Synchronization

/// Counts the names that were given in a directory, and those that an fsync made durable.
///
/// A directory that becomes known starts with one name that is not durable: it may have been changed before.
///
/// Lock rule: none, the counts are atomics.
struct GivenNames: ~Copyable {
    private let given = Atomic<UInt32>(1)
    private let durable = Atomic<UInt32>(0)

    /// Counts a name. Called after it was given on the host.
    borrowing func add() { given.wrappingAdd(1, ordering: .relaxed) }

    var count: UInt32 { given.load(ordering: .relaxed) }
    var areDurable: Bool { durable.load(ordering: .relaxed) == count }

    /// Called after an fsync of the directory.
    /// - Parameter count: the count of names before that fsync.
    borrowing func areDurable(upTo count: UInt32) { durable.store(count, ordering: .relaxed) }
}
