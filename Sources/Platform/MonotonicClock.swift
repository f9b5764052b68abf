// The host's clock that only goes forward.

import Glibc

public enum MonotonicClock {
    /// Nanoseconds since some instant in the past (CLOCK_MONOTONIC); no system call.
    public static var nanoseconds: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
