// Clocks of the host that never go back.

import Glibc

public enum MonotonicClock {
    /// `clock_gettime(2)` with `CLOCK_MONOTONIC`, in nanoseconds. The vDSO answers without a system call.
    public static var nanoseconds: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// `clock_gettime(2)` with `CLOCK_BOOTTIME`: nanoseconds since boot, with suspended time.
    public static var nanosecondsSinceBoot: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
