// The names in a directory that are not durable yet.

import Synchronization

/// Counts the names that were given in a directory, and how many of them are durable.
///
/// One that becomes known may have names that were given before and that nobody made durable.
struct GivenNames: ~Copyable {
    private let given = Atomic<UInt32>(1)
    private let durable = Atomic<UInt32>(0)

    /// To be called after a name was given.
    borrowing func add() { given.wrappingAdd(1, ordering: .relaxed) }

    var count: UInt32 { given.load(ordering: .relaxed) }
    var areDurable: Bool { durable.load(ordering: .relaxed) == count }

    /// To be called after the directory was made durable.
    /// - Parameter count: how many there were before.
    borrowing func areDurable(upTo count: UInt32) { durable.store(count, ordering: .relaxed) }
}
