// An event of a device: one JSON object a line in the record that `appcontainer events` prints.

import FoundationEssentials

/// An event of a device. A field that does not apply is nil, and not in the JSON.
///
/// Every event has ``time`` and ``event``. The other fields depend on the event:
///
/// | event | fields |
/// |---|---|
/// | `refused` | `app`, `path`, `operation`, `pid`, `process`, `rule`, `errno`; `omitted` after a flood of them |
/// | `refused`, of a flood that is over | `pid`, `process`, `rule`, `errno`, `omitted`: a count, and no call |
/// | `refused`, of bytes that a lock kept from being written | `app`, `path`, `operation`, `rule`, `errno`, `range`; `pid`, `process` |
/// | `refused`, of an app whose bundle was changed | `app`, `path`, `operation` (`run` or `launch`), `rule` |
/// | `corrupt` | `errno`; `app`, `path`, `operation`, `pid`, `process` where they are known |
/// | `corrupt`, of a record of the device | `errno`; `path`, the record's name |
/// | `purged` | `app`, `path`, `size`, `reason` |
/// | `cleaned` | `app`, `path`, `size`, `reason` |
/// | `backedUp` | `path`, that of the backup on the host; `errno` and `reason` of a failure; `reason` alone where later ones of the same advance take its place |
/// | `disobeyed` | `app`, `path`, `reason`: `backedUp`, `spared`, `purgedEarly` or `removedCaches` |
/// | `delivered` | `app`, `path` |
/// | `installed` | `app` |
/// | `mounted`, `unmounted` | `app`, `path` |
/// | `willBecomeUnavailable`, `didBecomeAvailable`, `locked`, `unlocked`, `restarted` | none |
/// | `entered` | `app`, `state` (`background` or `foreground`); `remaining` for the background |
/// | `expiring` | `app`, `remaining` |
/// | `suspended`, `resumed` | `app` |
/// | `terminated` | `app`, `reason` (`restart`, `terminate`, `memory`); `pid`, `process` but of a mark |
/// | `terminated`, of a lock | `app`, `path`, `lock`, `pid`, `process`, `reason` (`0xdead10cc`) |
/// | `missed` | `missed` |
public struct Event: Codable, Hashable, Sendable {
    /// The name of an event. A later version may have further ones.
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
        /// A purgeable item was removed to free space.
        public static let purged = Name(rawValue: "purged")
        /// An item of `tmp` was removed because it was not used for three days, by an app that does not run.
        public static let cleaned = Name(rawValue: "cleaned")
        /// A scheduled backup was made, or has failed; then it has `errno` and `reason`.
        public static let backedUp = Name(rawValue: "backedUp")
        /// A device that disobeys did something that its app cannot rely on not to happen.
        public static let disobeyed = Name(rawValue: "disobeyed")
        /// An item was put into an app's Inbox.
        public static let delivered = Name(rawValue: "delivered")
        /// An app was installed or updated.
        public static let installed = Name(rawValue: "installed")
        /// An app's home was mounted.
        public static let mounted = Name(rawValue: "mounted")
        /// An app's mount has ended, by a request or from outside.
        public static let unmounted = Name(rawValue: "unmounted")
        /// Stored bytes fail authentication. Each place is reported once in the life of the device's process.
        public static let corrupt = Name(rawValue: "corrupt")
        /// An app came into the background or the foreground.
        public static let entered = Name(rawValue: "entered")
        /// An app in the background will be suspended soon, and has background tasks that have not ended.
        public static let expiring = Name(rawValue: "expiring")
        /// The processes of an app are frozen.
        public static let suspended = Name(rawValue: "suspended")
        /// The processes of an app go on.
        public static let resumed = Name(rawValue: "resumed")
        /// A process of an app was ended.
        public static let terminated = Name(rawValue: "terminated")
        /// A follower was too slow for some events. This event is not in the record, which has them all.
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

    /// The host's time: ISO 8601, in UTC, with milliseconds.
    public var time: String
    public var event: Name
    /// The app's identifier. For a container that several apps share, the app through whose home it was reached.
    public var app: String?
    /// Relative to the app's home, and empty for the home itself; of `mounted` and `unmounted` the mount point. Bytes
    /// that are not UTF-8 show as replacement characters. Missing for a file that has no name any more. Of a path of
    /// more than 1,024 bytes it is the end, after `…/`, and ``pathCut`` counts the rest.
    public var path: String?
    /// Bytes that ``path`` leaves out at its head; at least so many for a path of more than 4,096 directories. Missing
    /// where it is complete.
    public var pathCut: Int?
    /// The system call, such as `open` or `rename`. Of a bundle that was found changed, the command: `run` or `launch`.
    public var operation: String?
    /// The process that made the call; for a lost range, the one that opened the file for writing last. Missing for the
    /// kernel, which writes late, and for a process that cannot be seen or has ended.
    public var pid: Int32?
    /// The name of the process (comm in proc(5)).
    public var process: String?
    /// The rule that refused; see appcontainer(7).
    public var rule: String?
    /// The name of the call's error number, such as `EPERM`.
    public var errno: String?
    /// The lost part of the file, which an application wrote while the device locked.
    public var range: Range?
    /// Bytes that came free.
    public var size: Int64?
    /// The reason of a purge, or of the end of a process; of `disobeyed` what the device did.
    public var reason: String?
    /// The state that an app has entered: `background` or `foreground`.
    public var state: String?
    /// The seconds until an app is suspended at the latest.
    public var remaining: Double?
    /// The kind of a lock that a process held when it was suspended: `flock`, `posix`, `ofd`, or `sqlite` for a
    /// transaction of a SQLite database.
    public var lock: String?
    /// The number of refusals before this one, of the same process by the same rule, that the record leaves out. It has
    /// 1,000 at once and then 100 a second of each process and rule.
    public var omitted: Int?
    /// The number of events that a slow follower did not get.
    public var missed: Int?
    /// The number of events before this one that could not be written because the disk was full, with those that they
    /// counted as omitted.
    public var dropped: Int?

    /// The device's time, in the form of ``time``; only where the device's clock is ahead of the host's.
    public var deviceTime: String?

    /// Whether the event only counts refusals that were left out, and describes no call.
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

extension Int {
    /// The sum, or the nearest number that there is.
    package func addingClamped(_ other: Int) -> Int {
        let (sum, isOut) = addingReportingOverflow(other)
        return isOut ? (other < 0 ? .min : .max) : sum
    }
}
