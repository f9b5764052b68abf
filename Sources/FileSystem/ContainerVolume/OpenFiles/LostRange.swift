// A write that the kernel accepted and the volume refused, and the process that may have made it.

public import Glibc
public import Platform

/// A range of a file that an application wrote while the device locked, and that was refused.
public struct LostRange: Sendable {
    public let place: HomePath
    public let range: Range<Int64>
    /// The last opening for writing: the kernel does not say whose bytes it writes out.
    public let writer: Opening?
}

/// The thread and time of an open call, by which the process can be found while it lives.
public struct Opening: Sendable {
    /// A thread of the process.
    public let thread: pid_t
    /// Nanoseconds since the host's boot.
    public let time: Int64

    /// - Parameter thread: 0 for one that cannot be seen.
    public init?(by thread: pid_t, at time: Int64 = MonotonicClock.nanosecondsSinceBoot) {
        guard thread != 0 else { return nil }
        self.thread = thread
        self.time = time
    }
}
