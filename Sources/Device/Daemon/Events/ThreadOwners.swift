// The processes of threads that called lately: a table of bounded size, so that a refused call needs no look at /proc.

import Glibc

/// Remembers for a second which process a thread belongs to. A value; ``RefusalLimit`` guards it with its lock.
struct ThreadOwners {
    /// Nanoseconds. The kernel gives thread numbers out in a circle, and no host starts as many threads in this time.
    private static let lifetime: UInt64 = 1_000_000_000
    private static let largest = 4096

    private var owners: [pid_t: (process: pid_t, until: UInt64)] = [:]

    /// - Parameters:
    ///   - thread: 0 for a caller that cannot be seen, whose process is 0 too.
    ///   - now: in nanoseconds, of a clock that only goes forward.
    /// - Returns: the thread's process; nil when it is not known or too old.
    func process(of thread: pid_t, at now: UInt64) -> pid_t? {
        if thread == 0 { return 0 }
        guard let known = owners[thread], now < known.until else { return nil }
        return known.process
    }

    /// Remembers the process of a thread. Makes space by dropping old entries, or all.
    mutating func remember(_ process: pid_t, of thread: pid_t, at now: UInt64) {
        if owners.count >= ThreadOwners.largest {
            owners = owners.filter { now < $0.value.until }
            if owners.count >= ThreadOwners.largest { owners.removeAll(keepingCapacity: true) }
        }
        owners[thread] = (process, now + ThreadOwners.lifetime)
    }

    var count: Int { owners.count }
}
