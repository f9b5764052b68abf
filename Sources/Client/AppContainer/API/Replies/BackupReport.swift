// Backing up and restoring: what is asked for, and what came of it.

/// What a backup took in.
public struct BackupReport: Codable, Hashable, Sendable {
    /// Files; one with several names counts as often.
    public var files: Int
    /// Of their contents, as the apps see them.
    public var bytes: Int64
    /// Files that are taken from the earlier backup.
    public var unchanged: Int
    /// Files that went in as ciphertext, because the state of the device kept them closed. Only this device can read them.
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
    /// Why something is left out.
    public enum Reason: String, Codable, Sendable {
        /// It bears the mark of exclusion.
        case excluded
        /// It is `Library/Caches`, `tmp` or another place that is never backed up.
        case place
        /// It is of a kind that no backup holds.
        case kind
    }

    /// The container: `AppDomain-com.example.Notes` or `AppDomainGroup-group.com.example`.
    public var domain: String
    /// Relative to the container; empty for the container itself.
    public var path: String
    /// The length in bytes of a file; of a directory that is left out, what the files in it take on the host.
    public var size: Int64
    /// Null for what goes in. What is in a directory that is left out is not listed.
    public var leftOut: Reason?
    /// Whether it would go in as ciphertext.
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

/// What a restore brought.
public struct RestoreReport: Codable, Hashable, Sendable {
    /// Apps whose data was replaced.
    public var apps: [String]
    /// Apps that are not installed; each has its data when it is.
    public var waiting: [String]
    public var groups: [String]
    public var files: Int
    /// Of their contents.
    public var bytes: Int64
    /// Entries that no container of this device has a place for; none of a backup that was made by this software.
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
