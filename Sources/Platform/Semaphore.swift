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
}
