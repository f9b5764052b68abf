// Whether a thread serves a request, and whether it has wiped its memory, as other threads see it.

import Glibc
import Synchronization

/// Changed by the thread that serves, read by all.
struct ServingCount: ~Copyable {
    /// Odd while it serves a request.
    private let count = Atomic<UInt64>(0)
    /// The number of the last wipe done.
    private let wipes = Atomic<UInt64>(0)

    @inline(__always)
    borrowing func begin() { count.add(1, ordering: .sequentiallyConsistent) }

    @inline(__always)
    borrowing func end() { count.add(1, ordering: .releasing) }

    var isServing: Bool { count.load(ordering: .sequentiallyConsistent) & 1 == 1 }

    /// Waits until the request that is served now is over.
    borrowing func wait() {
        let seen = count.load(ordering: .sequentiallyConsistent)
        guard seen & 1 == 1 else { return }
        while count.load(ordering: .acquiring) == seen { usleep(50) }
    }

    /// Whether a wipe was asked for since the last one.
    @inline(__always)
    borrowing func owesWipe(_ asked: UInt64) -> Bool { wipes.load(ordering: .relaxed) != asked }

    borrowing func didWipe(_ asked: UInt64) { wipes.store(asked, ordering: .releasing) }

    borrowing func hasWiped(_ asked: UInt64) -> Bool { wipes.load(ordering: .acquiring) >= asked }
}
