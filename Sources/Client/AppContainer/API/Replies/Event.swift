// What happened on a device: one JSON object a line in the record that `appcontainer events` prints.

import FoundationEssentials

/// Something that happened on a device. What does not apply to an event is nil, and not in the JSON.
///
/// Every event has ``time`` and ``event``. Which others there are with which, and when:
///
/// | event | fields |
/// |---|---|
/// | `refused` | `app`, `path`, `operation`, `pid`, `process`, `rule`, `errno`; `omitted` after a flood of them |
/// | `refused`, of a flood that is over | `pid`, `process`, `rule`, `errno`, `omitted`: a count, and no call |
/// | `refused`, of what a lock kept from being written | `app`, `path`, `operation`, `rule`, `errno`, `range`; `pid`, `process` |
/// | `refused`, of an app whose bundle was changed | `app`, `path`, `operation` (`run` or `launch`), `rule` |
/// | `corrupt` | `errno`; `app`, `path`, `operation`, `pid`, `process` where they are known |
/// | `purged` | `app`, `path`, `size`, `reason` |
/// | `delivered` | `app`, `path` |
/// | `installed` | `app` |
/// | `mounted`, `unmounted` | `app`, `path` |
/// | `willBecomeUnavailable`, `didBecomeAvailable`, `locked`, `unlocked`, `restarted` | none |
/// | `missed` | `missed` |
public struct Event: Codable, Hashable, Sendable {
    /// What happened. A later version may know further names.
    public struct Name: RawRepresentable, Codable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The device is about to be locked: files that need it unlocked will not be readable. `locked` follows, or
        /// `didBecomeAvailable` where the lock was cancelled, or `restarted`.
        public static let willBecomeUnavailable = Name(rawValue: "willBecomeUnavailable")
        /// Protected files can be read again, or still: after `unlocked`, and when a lock that had been announced was
        /// cancelled.
        public static let didBecomeAvailable = Name(rawValue: "didBecomeAvailable")
        /// The device is locked, and everything has been taken away that needs it unlocked.
        public static let locked = Name(rawValue: "locked")
        /// The passcode was given to a device that was locked, or before its first unlock, or was removed from it.
        public static let unlocked = Name(rawValue: "unlocked")
        /// The device did what a reboot does. With a passcode it is before its first unlock.
        public static let restarted = Name(rawValue: "restarted")
        /// A rule refused a system call, or what was left to write of one, or to run a bundle that was changed.
        public static let refused = Name(rawValue: "refused")
        /// A purgeable item was removed to make room.
        public static let purged = Name(rawValue: "purged")
        /// An item was put into an app's Inbox.
        public static let delivered = Name(rawValue: "delivered")
        /// An app was installed or updated.
        public static let installed = Name(rawValue: "installed")
        /// An app's home was mounted.
        public static let mounted = Name(rawValue: "mounted")
        /// An app's mount has ended, whoever ended it.
        public static let unmounted = Name(rawValue: "unmounted")
        /// Stored bytes do not authenticate. Each place is told once for as long as the device's process lives.
        public static let corrupt = Name(rawValue: "corrupt")
        /// Whoever follows the events was too slow for some of them. Not in the record, which has them all.
        public static let missed = Name(rawValue: "missed")
    }

    /// A part of a file, in bytes.
    public struct Range: Codable, Hashable, Sendable {
        public var offset: Int64
        public var length: Int64

        public init(offset: Int64, length: Int64) {
            self.offset = offset
            self.length = length
        }
    }

    /// ISO 8601, in UTC, with milliseconds.
    public var time: String
    public var event: Name
    /// The app's identifier. Of a place that several apps share, that of the one through whose home it was reached.
    public var app: String?
    /// Relative to the app's home, and empty for the home itself; of `mounted` and `unmounted` the mount point. Bytes
    /// that are not UTF-8 show as replacement characters. Missing for a file that has no name any more.
    public var path: String?
    /// The system call, such as `open` or `rename`. Of a bundle that was found changed, the command: `run` or `launch`.
    public var operation: String?
    /// The process that made the call; of a range that was lost the one that opened the file for writing last. Missing
    /// where it was the kernel, which writes late, and for a process that cannot be seen or has ended.
    public var pid: Int32?
    /// What the process calls itself (comm in proc(5)).
    public var process: String?
    /// The rule that refused; see appcontainer(7).
    public var rule: String?
    /// What the call answered: the error number's name, such as `EPERM`.
    public var errno: String?
    /// The part of the file that is meant: what an application wrote while the device locked, and that is lost.
    public var range: Range?
    /// Bytes that came free.
    public var size: Int64?
    /// Why something was purged.
    public var reason: String?
    /// How many refusals before this one, of the same process by the same rule, were left out of the record: of each
    /// process and rule it takes 1,000 at once and 100 a second.
    public var omitted: Int?
    /// How many events whoever follows did not get, because he was slower than they came.
    public var missed: Int?
    /// How many events before this one are missing, because there was no room for them on the disk; those are counted
    /// that they would have said were omitted.
    public var dropped: Int?

    /// Whether this only tells how many refusals were left out of the record, and of no call itself.
    public var isSummary: Bool { event == .refused && operation == nil }

    public init(
        _ event: Name, time: String = Event.now, app: String? = nil, path: String? = nil, operation: String? = nil,
        pid: Int32? = nil, process: String? = nil, rule: String? = nil, errno: String? = nil, range: Range? = nil,
        size: Int64? = nil, reason: String? = nil
    ) {
        self.time = time
        self.event = event
        self.app = app
        self.path = path
        self.operation = operation
        self.pid = pid
        self.process = process
        self.rule = rule
        self.errno = errno
        self.range = range
        self.size = size
        self.reason = reason
    }

    /// The present time as events have it.
    public static var now: String { Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}
