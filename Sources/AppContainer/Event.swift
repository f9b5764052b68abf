// What happened on a device: one JSON object a line in the record that `appcontainer events` prints.

import FoundationEssentials

/// Something that happened on a device. What does not apply to an event is nil, and not in the JSON.
public struct Event: Codable, Hashable, Sendable {
    /// What happened. A later version may know further names.
    public struct Name: RawRepresentable, Codable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The device is about to be locked: files that need it unlocked will not be readable.
        public static let willBecomeUnavailable = Name(rawValue: "willBecomeUnavailable")
        /// Protected files can be read again.
        public static let didBecomeAvailable = Name(rawValue: "didBecomeAvailable")
        public static let locked = Name(rawValue: "locked")
        public static let unlocked = Name(rawValue: "unlocked")
        public static let restarted = Name(rawValue: "restarted")
        /// A rule refused a system call, or what was left to write of one.
        public static let refused = Name(rawValue: "refused")
        public static let purged = Name(rawValue: "purged")
        public static let delivered = Name(rawValue: "delivered")
        public static let installed = Name(rawValue: "installed")
        public static let mounted = Name(rawValue: "mounted")
        public static let unmounted = Name(rawValue: "unmounted")
        /// Stored bytes do not authenticate.
        public static let corrupt = Name(rawValue: "corrupt")
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
    public var app: String?
    /// Relative to the app's home, and empty for the home itself; of `mounted` and `unmounted` the mount point. Bytes
    /// that are not UTF-8 show as replacement characters.
    public var path: String?
    /// The system call, such as `open` or `rename`.
    public var operation: String?
    /// The process that made the call. Without one it was the kernel, which writes late, or cannot be seen.
    public var pid: Int32?
    /// What the process calls itself (comm in proc(5)).
    public var process: String?
    /// The rule that refused.
    public var rule: String?
    /// The error number's name, such as `EPERM`.
    public var errno: String?
    /// The part of the file that is meant.
    public var range: Range?
    /// How many events before this one are missing, because there was no room for them.
    public var dropped: Int?

    public init(
        _ event: Name, time: String = Event.now, app: String? = nil, path: String? = nil, operation: String? = nil,
        pid: Int32? = nil, process: String? = nil, rule: String? = nil, errno: String? = nil, range: Range? = nil
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
    }

    /// The present time as events have it.
    public static var now: String { Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}
