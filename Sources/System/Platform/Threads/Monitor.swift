// A lock and a condition in one. Mutex of Synchronization has no way to wait.

import Glibc

/// A value that one thread at a time may access, and whose changes others can wait for.
@safe public final class Monitor<State>: @unchecked Sendable {
    // Allocated because neither may move. Valid from init to deinit.
    @unsafe private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @unsafe private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// Guarded by `mutex`.
    private var state: State

    public init(_ state: State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        // Nobody can set it.
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Reads or changes the state, and wakes all waiting threads (`pthread_cond_broadcast(3)`). The body must not call
    /// the monitor: the mutex is not recursive.
    public func access<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_mutex_unlock(mutex)
            unsafe pthread_cond_broadcast(condition)
        }
        return try body(&state)
    }

    /// `pthread_cond_wait(3)` until `body` returns a value. Runs it with the lock held, at first and after each
    /// ``access(_:)``.
    public func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// The same by `pthread_cond_timedwait(3)`.
    /// - Parameter deadline: in nanoseconds, as ``MonotonicClock`` has them.
    /// - Returns: nil if `body` has returned no value by then.
    public func wait<Result>(until deadline: UInt64, _ body: (inout State) -> Result?) -> Result? {
        var end = timespec()
        end.tv_sec = Int(deadline / 1_000_000_000)
        end.tv_nsec = Int(deadline % 1_000_000_000)
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            if unsafe pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT { return body(&state) }
        }
    }
}
