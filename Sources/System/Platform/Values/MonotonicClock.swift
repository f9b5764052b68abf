// The host's clock that only goes forward.

import Glibc

public enum MonotonicClock {
    /// Nanoseconds since some instant in the past (CLOCK_MONOTONIC); no system call.
    public static var nanoseconds: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Nanoseconds since the host's boot (CLOCK_BOOTTIME), those included in which it slept.
    public static var nanosecondsSinceBoot: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
