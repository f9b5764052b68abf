// Instants of CLOCK_REALTIME, as file timestamps have them.

public import Glibc

/// An instant of CLOCK_REALTIME.
public struct HostTime: Comparable, Hashable, Sendable {
    /// Since 1970-01-01 UTC, without leap seconds. Instants out of range are clamped.
    public let nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    public init(_ time: timespec) {
        // A filesystem can hold times outside of the range of Int64 nanoseconds.
        let (product, isOut) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isJustOut) = product.addingReportingOverflow(Int64(time.tv_nsec))
        nanoseconds = isOut || isJustOut ? (time.tv_sec < 0 ? .min : .max) : sum
    }

    /// `clock_gettime(2)` with `CLOCK_REALTIME`.
    public static var now: HostTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return HostTime(time)
    }

    /// In nanoseconds: how far a file timestamp of the kernel may lie behind its clock, one timer tick and a margin.
    public static let tick: Int64 = 20_000_000

    /// Negative if the other instant is later. A Double has the difference to about a microsecond.
    public func seconds(since other: HostTime) -> Double { Double(nanoseconds) / 1e9 - Double(other.nanoseconds) / 1e9 }

    public static func < (one: HostTime, other: HostTime) -> Bool { one.nanoseconds < other.nanoseconds }
}

extension HostTime {
    /// As system calls take an instant.
    public var raw: timespec {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return rest < 0
            ? Glibc.timespec(tv_sec: Int(seconds - 1), tv_nsec: Int(rest + 1_000_000_000))
            : Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
    }
}
