// A lock that many readers or one writer hold. The standard library's Synchronization has none.

import Glibc

/// A reader/writer lock that prefers waiting writers, so that a stream of readers cannot starve one.
@safe public final class ReadWriteLock: @unchecked Sendable {
    // Allocated apart because a pthread lock must not move; valid from init to deinit.
    @unsafe private let lock: UnsafeMutablePointer<pthread_rwlock_t>

    public init() {
        unsafe lock = .allocate(capacity: 1)
        var attributes = pthread_rwlockattr_t()
        unsafe pthread_rwlockattr_init(&attributes)
        // PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, an enumerator that Swift does not import as a number.
        unsafe pthread_rwlockattr_setkind_np(&attributes, 2)
        unsafe pthread_rwlock_init(lock, &attributes)
        unsafe pthread_rwlockattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_rwlock_destroy(lock)
        unsafe lock.deallocate()
    }

    @inline(__always)
    public func reading<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        unsafe pthread_rwlock_rdlock(lock)
        defer { unsafe pthread_rwlock_unlock(lock) }
        return try body()
    }

    @inline(__always)
    public func writing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        unsafe pthread_rwlock_wrlock(lock)
        defer { unsafe pthread_rwlock_unlock(lock) }
        return try body()
    }

    /// For callers that work on a span, which no closure can capture: to be followed by ``unlock()`` in a `defer`.
    @inline(__always)
    public func lockForWriting() {
        unsafe pthread_rwlock_wrlock(lock)
    }

    @inline(__always)
    public func unlock() {
        unsafe pthread_rwlock_unlock(lock)
    }
}
