// A lock for sections of a few instructions that many threads enter.

import Glibc

/// State behind an adaptive `pthread_mutex_t`.
///
/// `Synchronization.Mutex` is a futex with priority inheritance here: it spins for long and is then handed to the next
/// waiter, who has to be woken first. Where more threads want it than there are processors, one that is put aside with
/// the lock makes all of them take turns by the scheduler from then on. This lock spins for a moment, and is free for
/// any thread that runs.
@safe public final class ShortLock<Value>: @unchecked Sendable {
    // Allocated because a pthread lock must not move. Valid from init to deinit.
    @unsafe private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    public init(_ value: sending Value) {
        self.value = value
        unsafe lock = .allocate(capacity: 1)
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        // PTHREAD_MUTEX_ADAPTIVE_NP, which Swift does not import.
        unsafe pthread_mutexattr_settype(&attributes, 3)
        unsafe pthread_mutex_init(lock, &attributes)
        unsafe pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_mutex_destroy(lock)
        unsafe lock.deallocate()
    }

    /// Calls the body with the lock held. It is not recursive.
    @inline(__always)
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        return try body(&value)
    }
}
