// The removal of a file's last name, when several threads remove names.

import Synchronization

/// Finds the removal of a file's last name when several threads remove names. Two threads may each have seen a link
/// count of two, and none of one.
struct LinkTally {
    private var names: [UInt64: (most: UInt64, removed: UInt64)] = [:]

    /// Called after each removal of a name.
    /// - Parameter links: the link count at some time before the removal.
    /// - Returns: whether the removed name was the last.
    mutating func removed(_ inode: UInt64, of links: UInt64) -> Bool {
        guard links > 1 || names[inode] != nil else { return true }
        let known = names[inode] ?? (most: 0, removed: 0)
        let now = (most: max(known.most, links), removed: known.removed + 1)
        names[inode] = now.removed < now.most ? now : nil
        return now.removed == now.most
    }
}

/// A ``LinkTally`` for several threads. Its lock is innermost.
public final class SharedLinkTally: Sendable {
    private let tally = Mutex(LinkTally())

    public init() {}

    func removed(_ inode: UInt64, of links: UInt64) -> Bool {
        tally.withLock { $0.removed(inode, of: links) }
    }
}
