// A reader/writer lock, which Synchronization lacks.

import CPlatform
import Glibc

/// A reader/writer lock (`pthread_rwlock_t`) that prefers waiting writers, so that readers cannot starve one.
///
/// It is not recursive, not even for readers: a thread that reads must not read again, because a writer may have come
/// in between, and each would wait for the other.
@safe public final class ReadWriteLock: @unchecked Sendable {
    // Allocated because a pthread lock must not move. Valid from init to deinit.
    @unsafe private let lock: UnsafeMutablePointer<pthread_rwlock_t>

    public init() {
        unsafe lock = .allocate(capacity: 1)
        var attributes = pthread_rwlockattr_t()
        unsafe pthread_rwlockattr_init(&attributes)
        // PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, which Swift does not import.
        unsafe pthread_rwlockattr_setkind_np(&attributes, 2)
        unsafe pthread_rwlock_init(lock, &attributes)
        unsafe pthread_rwlockattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_rwlock_destroy(lock)
        unsafe lock.deallocate()
    }

    /// `pthread_rwlock_rdlock(3)` before the body, `pthread_rwlock_unlock(3)` after it.
    @inline(__always)
    public func reading<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        unsafe pthread_rwlock_rdlock(lock)
        defer { unsafe pthread_rwlock_unlock(lock) }
        return try body()
    }

    /// `pthread_rwlock_wrlock(3)` before the body, `pthread_rwlock_unlock(3)` after it.
    @inline(__always)
    public func writing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        unsafe pthread_rwlock_wrlock(lock)
        defer { unsafe pthread_rwlock_unlock(lock) }
        return try body()
    }

    /// `pthread_rwlock_wrlock(3)`, for callers with a span, which a closure cannot capture. ``unlock()`` must follow in
    /// a `defer`.
    @inline(__always)
    public func lockForWriting() {
        unsafe pthread_rwlock_wrlock(lock)
    }

    /// As ``lockForWriting()``, unless another holder makes the lock needless meanwhile. It polls for a moment, because
    /// waking a thread takes longer than most holders need.
    /// - Parameter isNeedless: whether what the lock is for has been done.
    /// - Returns: false if it has; the lock is not held then.
    @inline(__always)
    public func lockForWriting(unless isNeedless: () -> Bool) -> Bool {
        guard unsafe pthread_rwlock_trywrlock(lock) != 0 else { return keeps(unless: isNeedless) }
        let end = MonotonicClock.nanoseconds + ReadWriteLock.patience
        repeat {
            for _ in 0..<ReadWriteLock.relaxations { platform_relax() }
            if isNeedless() { return false }
            if unsafe pthread_rwlock_trywrlock(lock) == 0 { return keeps(unless: isNeedless) }
            // The holder may be waiting for this processor.
            sched_yield()
        } while MonotonicClock.nanoseconds < end
        unsafe pthread_rwlock_wrlock(lock)
        return keeps(unless: isNeedless)
    }

    /// Lets go of the lock if it has become needless while this thread got it.
    @inline(__always)
    private func keeps(unless isNeedless: () -> Bool) -> Bool {
        guard isNeedless() else { return true }
        unlock()
        return false
    }

    /// Nanoseconds for which a thread polls.
    @usableFromInline static let patience: UInt64 = 100_000
    /// Pauses of the processor between two looks.
    @usableFromInline static let relaxations = 16

    /// `pthread_rwlock_unlock(3)`.
    @inline(__always)
    public func unlock() {
        unsafe pthread_rwlock_unlock(lock)
    }
}
