// Instants of the host's clock, as files bear them.

public import Glibc

/// A point of CLOCK_REALTIME.
public struct HostTime: Comparable, Hashable, Sendable {
    /// Since the beginning of 1970, without leap seconds.
    public let nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    public init(_ time: timespec) {
        let (product, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        // Times that far away, which a filesystem can bear, are all the same here.
        nanoseconds = overflow ? (time.tv_sec < 0 ? .min : .max) : product &+ Int64(time.tv_nsec)
    }

    public static var now: HostTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return HostTime(time)
    }

    /// How far the time that the kernel gives to files may lie behind its clock: a timer's tick, and some reserve.
    public static let tick: Int64 = 20_000_000

    public func seconds(since other: HostTime) -> Double { Double(nanoseconds) / 1e9 - Double(other.nanoseconds) / 1e9 }

    public static func < (one: HostTime, other: HostTime) -> Bool { one.nanoseconds < other.nanoseconds }
}

extension HostTime {
    /// As system calls take it.
    public var raw: timespec {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return rest < 0
            ? Glibc.timespec(tv_sec: Int(seconds - 1), tv_nsec: Int(rest + 1_000_000_000))
            : Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
    }
}
