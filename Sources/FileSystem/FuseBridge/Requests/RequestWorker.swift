// One worker of a session: its memory, and what others know of it.

import Glibc
import Platform
import Synchronization

/// Whether a worker is at a request, on a line of the cache of its own, and the memory in which it receives them.
@safe final class RequestWorker: @unchecked Sendable {
    /// The payload of a WRITE follows two headers of 40 bytes; so placed, it begins at a page.
    private static let lead = PageBuffer.pageSize - 80
    static let capacity = PageBuffer.pageSize + Session.largestRequest

    /// Odd while it is at a request.
    private let count = Atomic<UInt64>(0)
    /// The last wipe that it was asked for and has done.
    private let wipes = Atomic<UInt64>(0)
    private let buffer = PageBuffer(count: RequestWorker.lead + RequestWorker.capacity)
    /// The most that was received since the last wipe. Only the worker's own thread has to do with it.
    private var used = 0

    /// Where libfuse parses a request; valid as long as the worker is.
    @unsafe var memory: UnsafeMutableRawPointer { unsafe buffer.base + RequestWorker.lead }

    @inline(__always)
    func begin(_ size: Int) {
        used = max(used, size)
        count.add(1, ordering: .sequentiallyConsistent)
    }

    @inline(__always)
    func end() { count.add(1, ordering: .releasing) }

    var isServing: Bool { count.load(ordering: .sequentiallyConsistent) & 1 == 1 }

    /// Waits until the request that it is at now has been served.
    func wait() {
        let seen = count.load(ordering: .sequentiallyConsistent)
        guard seen & 1 == 1 else { return }
        while count.load(ordering: .acquiring) == seen { usleep(50) }
    }

    // MARK: What requests brought

    /// Zeroes what requests have left, if that was asked for since it was done last. On its own thread, between two.
    @inline(__always)
    func wipe(asked: UInt64) {
        if wipes.load(ordering: .relaxed) == asked { return }
        buffer.wipe(RequestWorker.lead, count: used)
        used = 0
        wipes.store(asked, ordering: .releasing)
    }

    func hasWiped(_ asked: UInt64) -> Bool { wipes.load(ordering: .acquiring) >= asked }
}
