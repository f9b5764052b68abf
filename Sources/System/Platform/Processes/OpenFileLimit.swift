// The limit of open files of this process.

import Glibc
public import SandboxModel
import Synchronization

/// The soft limit of `RLIMIT_NOFILE`. The kernel is asked once: the number is needed at each opening of a file.
///
/// A limit that another process sets later, as prlimit(1) does, goes unnoticed.
public enum OpenFileLimit {
    /// 0 before the kernel was asked.
    private static let known = Atomic<Int>(0)

    /// Linux's default of 1024 if the kernel does not tell.
    public static var current: Int {
        let limit = known.load(ordering: .relaxed)
        return limit > 0 ? limit : remember(limits().map { Int(clamping: $0.rlim_cur) } ?? 1024)
    }

    /// Raises the soft limit to the hard limit. Errors are ignored: the limit then stays.
    public static func raise() {
        guard let limits = limits() else { return }
        try? set(Int(clamping: limits.rlim_max))
    }

    /// The least with which a process serves a device: its sockets, timers and mounts, and what one call opens.
    public static let least = 64

    /// Changes the soft limit, by `setrlimit(2)`.
    public static func set(_ soft: Int) throws(SystemError) {
        guard var limits = limits() else { throw .invalid }
        limits.rlim_cur = min(rlim_t(soft), limits.rlim_max)
        try systemCall { unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) }
        remember(Int(clamping: limits.rlim_cur))
    }

    /// `getrlimit(2)`.
    private static func limits() -> rlimit? {
        var limits = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 ? limits : nil
    }

    @discardableResult
    private static func remember(_ limit: Int) -> Int {
        known.store(limit, ordering: .relaxed)
        return limit
    }
}
