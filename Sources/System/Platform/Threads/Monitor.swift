// State that threads wait for: a lock and a condition in one. Synchronization's Mutex has no waiting.

import Glibc

/// A value that one thread at a time may touch, and whose change the others can wait for.
@safe public final class Monitor<State>: @unchecked Sendable {
    // Allocated apart because neither may move; valid from init to deinit.
    @unsafe private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @unsafe private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    public init(_ state: State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Reads or changes the state, and wakes whoever waits for a change.
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

    /// Waits until the body gives something. It runs with the lock held, once at first and after every change.
    public func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }
}
