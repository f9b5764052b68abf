// Instants as events, reports and the names of scheduled backups have them.

import FoundationEssentials
import Platform

enum EventTime {
    /// ISO 8601, in UTC, with milliseconds.
    static func text(_ time: HostTime) -> String {
        date(time).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// The same without fractions and colons, which some filesystems refuse in names.
    static func fileName(_ time: HostTime) -> String {
        date(time).formatted(.iso8601).replacing(":", with: "-")
    }

    private static func date(_ time: HostTime) -> Date {
        Date(timeIntervalSince1970: Double(time.nanoseconds) / 1e9)
    }
}
