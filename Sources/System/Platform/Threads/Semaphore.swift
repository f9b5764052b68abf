// A counting semaphore. Unlike with a condition, a woken thread has no lock to wait for.

import CPlatform
import Glibc

/// `sem_t` of sem_overview(7), for threads of one process.
@safe public final class Semaphore: @unchecked Sendable {
    // Allocated because it must not move. Valid from init to deinit.
    @unsafe private let semaphore: UnsafeMutablePointer<sem_t>

    public init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    /// `sem_post(3)`.
    public func signal() {
        unsafe sem_post(semaphore)
    }

    /// `sem_wait(3)`.
    public func wait() {
        while unsafe sem_wait(semaphore) != 0 && errno == EINTR {}
    }

    /// `sem_clockwait(3)` by CLOCK_MONOTONIC, which nobody can set.
    /// - Returns: false after the time limit.
    public func wait(milliseconds: Int) -> Bool {
        let end = MonotonicClock.nanoseconds + UInt64(milliseconds) * 1_000_000
        while unsafe platform_wait_until(semaphore, end) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }
}
