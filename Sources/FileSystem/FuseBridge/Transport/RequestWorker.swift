// One worker of /dev/fuse: its request memory, and whether it is serving.

import Glibc
import Platform
import SandboxModel

/// One worker's state, in an object of its own so that no two share a cache line, and its request memory.
@safe final class RequestWorker: @unchecked Sendable {
    /// Offset of the request in the buffer: the payload of a WRITE, after two headers of 40 bytes, is page-aligned.
    private static let lead = PageBuffer.pageSize - 80
    static let capacity = PageBuffer.pageSize + Session.largestRequest

    let serving = ServingCount()
    let context: ThreadContext
    private let counts = RequestCounts.take()
    private let buffer: PageBuffer
    /// The largest request since the last wipe, in bytes. Used by the worker's own thread only.
    private var used = 0

    /// - Throws: ENOMEM.
    init() throws(SystemError) {
        buffer = try PageBuffer(mapping: RequestWorker.lead + RequestWorker.capacity)
        context = unsafe ThreadContext(UnsafeRawPointer(buffer.base + RequestWorker.lead))
        // A worker without a thread has nothing to wipe.
        serving.didWipe(.max)
    }

    deinit {
        RequestCounts.giveBack(counts)
    }

    /// The memory into which requests are read; valid as long as the worker is.
    @unsafe var memory: UnsafeMutableRawPointer { unsafe buffer.base + RequestWorker.lead }

    /// A thread begins to serve with it.
    /// - Parameter asked: the number of the last wipe asked for.
    func wake(wiped asked: UInt64) {
        context.remember()
        serving.didWipe(asked)
    }

    /// Its thread ends: nothing of the requests is left, in memory or on the stack.
    func rest() {
        buffer.wipe(RequestWorker.lead, count: used)
        used = 0
        buffer.giveBack()
        HostThread.wipeStack()
        ThreadContext.forget()
        serving.didWipe(.max)
    }

    @inline(__always)
    func begin(_ size: Int) {
        used = max(used, size)
        serving.begin()
        // struct fuse_in_header (linux/fuse.h) begins with the length of the request and its opcode.
        unsafe counts.add(memory.load(fromByteOffset: 4, as: UInt32.self))
    }

    /// Zeroes the memory if a wipe was asked for since the last one. On the worker's own thread, between two requests.
    @inline(__always)
    func wipe(asked: UInt64) {
        guard serving.owesWipe(asked) else { return }
        buffer.wipe(RequestWorker.lead, count: used)
        used = 0
        serving.didWipe(asked)
    }
}
