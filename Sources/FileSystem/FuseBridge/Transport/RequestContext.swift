// The request that a thread serves, where code below libfuse finds it.

import CPlatform

/// Lies in memory that the thread remembers, so that a request costs two stores and no lock.
@unsafe struct RequestContext {
    /// The request's fuse_in_header (linux/fuse.h), with its own structure behind it.
    @unsafe var header: UnsafeRawPointer
    /// The entry that the reply goes into; nil if the request came by /dev/fuse. The thread's worker keeps it alive.
    @unsafe var entry: Unmanaged<RingEntry>?

    /// nil on a thread that serves no requests.
    @inline(__always)
    static var current: UnsafePointer<RequestContext>? {
        // Set by the same thread, in memory that outlives it.
        unsafe platform_remembered()?.assumingMemoryBound(to: RequestContext.self)
    }

    /// The thread's request as the kernel sent it; nil on a thread that serves no requests.
    @inline(__always)
    static var header: UnsafeRawPointer? { unsafe current?.pointee.header }
}

/// A thread's ``RequestContext``. Used by that thread only.
@safe final class ThreadContext: @unchecked Sendable {
    // Valid from init to deinit.
    @unsafe private let context: UnsafeMutablePointer<RequestContext>

    init(_ header: UnsafeRawPointer) {
        unsafe context = .allocate(capacity: 1)
        unsafe context.initialize(to: RequestContext(header: header, entry: nil))
    }

    deinit {
        unsafe context.deallocate()
    }

    /// Makes it the context of the calling thread, which ends before it or forgets it.
    func remember() {
        unsafe platform_remember(context)
    }

    /// The calling thread serves no more requests.
    static func forget() {
        platform_remember(nil)
    }

    @inline(__always)
    func serve(_ header: UnsafeRawPointer, of entry: RingEntry) {
        unsafe context.pointee = RequestContext(header: header, entry: Unmanaged.passUnretained(entry))
    }
}
