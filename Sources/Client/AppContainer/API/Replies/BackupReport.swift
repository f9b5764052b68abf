// The replies to requests about backups.

/// The content of a new backup, in numbers.
public struct BackupReport: Codable, Hashable, Sendable {
    /// The number of files; one with several names counts once for each.
    public var files: Int
    /// The bytes of their contents, as the apps see them.
    public var bytes: Int64
    /// The number of files that were taken from the earlier backup.
    public var unchanged: Int
    /// The number of files stored as ciphertext, because the state of the device kept them closed. Only this device can
    /// read them.
    public var sealed: Int

    public init(files: Int, bytes: Int64, unchanged: Int, sealed: Int) {
        self.files = files
        self.bytes = bytes
        self.unchanged = unchanged
        self.sealed = sealed
    }
}

/// One file, directory or link of a container, as a backup would treat it.
public struct BackupItem: Codable, Hashable, Sendable {
    /// The reason to leave a file out.
    public enum Reason: String, Codable, Sendable {
        /// The file has the mark of exclusion.
        case excluded
        /// The file is in `Library/Caches`, `tmp` or another place that is never backed up.
        case place
        /// The file is of a kind that no backup contains.
        case kind
    }

    /// The container: `AppDomain-com.example.Notes` or `AppDomainGroup-group.com.example`.
    public var domain: String
    /// Relative to the container; empty for the container itself.
    public var path: String
    /// Bytes: the length of a file, or the space on the host of a directory that is left out.
    public var size: Int64
    /// Null when it is backed up. The content of a directory that is left out is not listed.
    public var leftOut: Reason?
    /// Whether it would be stored as ciphertext.
    public var sealed: Bool

    public init(domain: String, path: String, size: Int64, leftOut: Reason?, sealed: Bool) {
        self.domain = domain
        self.path = path
        self.size = size
        self.leftOut = leftOut
        self.sealed = sealed
    }

    private enum CodingKeys: CodingKey {
        case domain, path, size, leftOut, sealed
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(domain, forKey: .domain)
        try container.encode(path, forKey: .path)
        try container.encode(size, forKey: .size)
        try container.encode(leftOut, forKey: .leftOut)
        try container.encode(sealed, forKey: .sealed)
    }
}

/// The result of a restore.
public struct RestoreReport: Codable, Hashable, Sendable {
    /// Identifiers of the apps whose data was replaced.
    public var apps: [String]
    /// Identifiers of apps that are not installed; each gets its data with its installation.
    public var waiting: [String]
    public var groups: [String]
    public var files: Int
    /// The bytes of their contents.
    public var bytes: Int64
    /// The number of entries that no container of this device can have; 0 for a backup of this software.
    public var leftOut: Int

    public init(apps: [String], waiting: [String], groups: [String], files: Int, bytes: Int64, leftOut: Int) {
        self.apps = apps
        self.waiting = waiting
        self.groups = groups
        self.files = files
        self.bytes = bytes
        self.leftOut = leftOut
    }
}
