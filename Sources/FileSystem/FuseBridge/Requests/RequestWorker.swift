// One worker of a session: its request memory, and whether it is serving.

import Glibc
import Platform
import Synchronization

/// One worker's state, in an object of its own so that no two share a cache line, and its request memory.
@safe final class RequestWorker: @unchecked Sendable {
    /// Offset of the request in the buffer: the payload of a WRITE, after two headers of 40 bytes, is page-aligned.
    private static let lead = PageBuffer.pageSize - 80
    static let capacity = PageBuffer.pageSize + Session.largestRequest

    /// Odd while it serves a request.
    private let count = Atomic<UInt64>(0)
    /// The number of the last wipe done.
    private let wipes = Atomic<UInt64>(0)
    private let buffer = PageBuffer(count: RequestWorker.lead + RequestWorker.capacity)
    /// The largest request since the last wipe, in bytes. Used by the worker's own thread only.
    private var used = 0

    /// The memory into which requests are read; valid as long as the worker is.
    @unsafe var memory: UnsafeMutableRawPointer { unsafe buffer.base + RequestWorker.lead }

    @inline(__always)
    func begin(_ size: Int) {
        used = max(used, size)
        count.add(1, ordering: .sequentiallyConsistent)
    }

    @inline(__always)
    func end() { count.add(1, ordering: .releasing) }

    var isServing: Bool { count.load(ordering: .sequentiallyConsistent) & 1 == 1 }

    /// Waits until the request that it serves now is over.
    func wait() {
        let seen = count.load(ordering: .sequentiallyConsistent)
        guard seen & 1 == 1 else { return }
        while count.load(ordering: .acquiring) == seen { usleep(50) }
    }

    // MARK: Wiping

    /// Zeroes the memory if a wipe was asked for since the last one. On the worker's own thread, between two requests.
    @inline(__always)
    func wipe(asked: UInt64) {
        if wipes.load(ordering: .relaxed) == asked { return }
        buffer.wipe(RequestWorker.lead, count: used)
        used = 0
        wipes.store(asked, ordering: .releasing)
    }

    func hasWiped(_ asked: UInt64) -> Bool { wipes.load(ordering: .acquiring) >= asked }
}
