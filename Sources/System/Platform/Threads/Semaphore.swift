// A count that threads wait for. Unlike a condition it needs no lock: whoever is woken has nothing left to wait for.

import Glibc

/// A counting semaphore of POSIX, for threads of one process.
@safe public final class Semaphore: @unchecked Sendable {
    // Allocated apart because it may not move; valid from init to deinit.
    @unsafe private let semaphore: UnsafeMutablePointer<sem_t>

    public init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    /// Adds one to the count, which lets one thread through.
    public func signal() {
        unsafe sem_post(semaphore)
    }

    /// Waits until the count is more than zero, and takes one from it.
    public func wait() {
        while unsafe sem_wait(semaphore) != 0 && errno == EINTR {}
    }

    /// As ``wait()``, for some time at most.
    /// - Returns: false when the time has passed and the count was zero all along.
    public func wait(milliseconds: Int) -> Bool {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        let end = time.tv_nsec + milliseconds * 1_000_000
        time.tv_sec += end / 1_000_000_000
        time.tv_nsec = end % 1_000_000_000
        while unsafe sem_timedwait(semaphore, &time) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }
}
