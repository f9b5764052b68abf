// The reply about one path of an app's home.

public import SandboxModel

/// A file or directory in a mount, with the rules that hold for it.
public struct Inspection: Codable, Hashable, Sendable {
    /// Relative to the app's home; empty for the home itself.
    public var path: String
    public var app: String
    /// `file`, `directory`, `symbolicLink`, `fifo` or `socket`.
    public var kind: String
    /// The zone of the home that has the path.
    public var zone: String
    /// The rule of the zone, in words.
    public var rule: String
    /// The protection class of a file, or the class that a directory gives to new files, by Foundation's name; null
    /// where nothing is encrypted.
    public var protection: String?
    /// Whether the content can be read in the device's present state.
    public var readable: Bool
    /// The length in bytes that the app sees.
    public var size: Int64
    /// The bytes that the file takes in the device directory.
    public var storedSize: Int64
    public var owner: UInt32
    public var group: UInt32
    /// The permission bits in octal digits, such as `644`.
    public var mode: String
    /// Its place in a backup: `included`, `excluded`, or `excluded-by:PATH`, where PATH is a directory above it that
    /// is excluded, relative to the app's home.
    public var backup: String
    /// Whether it is excluded itself: by its mark, or as one of the places that are never in a backup.
    public var excluded: Bool
    /// The path in the device directory; null for an entry that only the mount has.
    public var backing: String?
    /// The team that the app's signature names; null without one.
    public var team: String?
    /// The name in the certificate of the app's signer; null where the device has signed the app, or nobody.
    public var signer: String?
    /// The entitlements that the app's signature covers, by key.
    public var entitlements: [String: EntitlementValue]?
    /// The number of names that the file has.
    public var links: UInt64 = 1
    /// The time of the last change of the content: ISO 8601, in UTC, with milliseconds.
    public var modified = ""
    /// Its extended attributes, in every form in which a call on the mount can read them.
    public var attributes: [ExtendedAttribute] = []
    /// The processes that have it open or mapped, as far as the device's process may look at them.
    public var openBy: [Holder] = []
    /// The reason for ``backup``, in words.
    public var backupRule = ""
    /// The reason for ``protection``, in words; null where there is no class.
    public var protectionReason: String?
    /// The class key that wraps the file's own, in words; null where nothing is encrypted.
    public var wrappedBy: String?
    /// Whether that class key is there in the device's present state; null where nothing is encrypted.
    public var classKeyAvailable: Bool?

    /// An extended attribute.
    public struct ExtendedAttribute: Codable, Hashable, Sendable {
        public var name: String
        /// Null where it is not UTF-8, or has control characters.
        public var value: String?
        /// The value's bytes, in Base64.
        public var bytes: String

        public init(name: String, value: String?, bytes: String) {
            self.name = name
            self.value = value
            self.bytes = bytes
        }

        private enum CodingKeys: CodingKey {
            case name, value, bytes
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(value, forKey: .value)
            try container.encode(bytes, forKey: .bytes)
        }
    }

    /// A process that has a file open or mapped.
    public struct Holder: Codable, Hashable, Sendable {
        public var pid: Int32
        /// The name of the process (comm in proc(5)); null where it cannot be seen.
        public var process: String?
        /// Whether it can write to the file.
        public var writes: Bool

        public init(pid: Int32, process: String?, writes: Bool) {
            self.pid = pid
            self.process = process
            self.writes = writes
        }

        private enum CodingKeys: CodingKey {
            case pid, process, writes
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(pid, forKey: .pid)
            try container.encode(process, forKey: .process)
            try container.encode(writes, forKey: .writes)
        }
    }

    public init(
        path: String, app: String, kind: String, zone: String, rule: String, protection: String?, readable: Bool,
        size: Int64, storedSize: Int64, owner: UInt32, group: UInt32, mode: String, backup: String,
        excluded: Bool, backing: String?
    ) {
        self.path = path
        self.app = app
        self.kind = kind
        self.zone = zone
        self.rule = rule
        self.protection = protection
        self.readable = readable
        self.size = size
        self.storedSize = storedSize
        self.owner = owner
        self.group = group
        self.mode = mode
        self.backup = backup
        self.excluded = excluded
        self.backing = backing
    }

    private enum CodingKeys: CodingKey {
        case path, app, kind, zone, rule, protection, readable, size, storedSize, owner, group, mode, backup, excluded,
            backing, team, signer, entitlements, links, modified, attributes, openBy, backupRule, protectionReason,
            wrappedBy, classKeyAvailable
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        try container.encode(app, forKey: .app)
        try container.encode(kind, forKey: .kind)
        try container.encode(zone, forKey: .zone)
        try container.encode(rule, forKey: .rule)
        try container.encode(protection, forKey: .protection)
        try container.encode(readable, forKey: .readable)
        try container.encode(size, forKey: .size)
        try container.encode(storedSize, forKey: .storedSize)
        try container.encode(owner, forKey: .owner)
        try container.encode(group, forKey: .group)
        try container.encode(mode, forKey: .mode)
        try container.encode(backup, forKey: .backup)
        try container.encode(excluded, forKey: .excluded)
        try container.encode(backing, forKey: .backing)
        try container.encode(team, forKey: .team)
        try container.encode(signer, forKey: .signer)
        try container.encode(entitlements ?? [:], forKey: .entitlements)
        try container.encode(links, forKey: .links)
        try container.encode(modified, forKey: .modified)
        try container.encode(attributes, forKey: .attributes)
        try container.encode(openBy, forKey: .openBy)
        try container.encode(backupRule, forKey: .backupRule)
        try container.encode(protectionReason, forKey: .protectionReason)
        try container.encode(wrappedBy, forKey: .wrappedBy)
        try container.encode(classKeyAvailable, forKey: .classKeyAvailable)
    }
}
