// The reply to a request that lists a directory of an app's home.

/// A part of the content of a directory.
public struct FileListing: Codable, Hashable, Sendable {
    /// A file or directory, with the rules that hold for it.
    public struct File: Codable, Hashable, Sendable {
        /// Relative to the app's home. Bytes that are not UTF-8 show as replacement characters.
        public var path: String
        /// The path's bytes in base64, for requests about it; null where it is UTF-8, and `path` is enough.
        public var pathBytes: String?
        /// `file`, `directory`, `symbolicLink`, `fifo` or `socket`.
        public var kind: String
        /// The length in bytes that the app sees.
        public var size: Int64
        /// The bytes that it takes in the device directory.
        public var storedSize: Int64
        /// The time of the last change of the content: ISO 8601, in UTC, with milliseconds.
        public var modified: String
        /// The permission bits in octal digits, such as `644`.
        public var mode: String
        /// The number of names that the file has.
        public var links: UInt64
        /// The file's number on the mount (`st_ino`): names with the same number are of one file, and a directory that
        /// took the place of another has another. 0 for an entry that cannot be looked at.
        public var fileNumber: UInt64
        /// The protection class of a file, or the class that a directory gives to new files, by Foundation's name; null
        /// where nothing is encrypted.
        public var protection: String?
        /// Its place in a backup, as in ``Inspection``.
        public var backup: String
        /// Whether it is excluded itself, as in ``Inspection``.
        public var excluded: Bool
        /// Whether the system may remove it when space is low.
        public var purgeable: Bool
        /// The target of a symbolic link; null for anything else.
        public var target: String?
        /// The fault, in words, for which facts about it are missing, or for which its content is not listed; null for
        /// nearly all. Of an entry that cannot be looked at, the kind is what its directory says.
        public var fault: String?

        public init(
            path: String, kind: String, size: Int64, storedSize: Int64, modified: String, mode: String, links: UInt64,
            fileNumber: UInt64, protection: String?, backup: String, excluded: Bool, purgeable: Bool, target: String?,
            fault: String? = nil, pathBytes: String? = nil
        ) {
            self.path = path
            self.pathBytes = pathBytes
            self.kind = kind
            self.size = size
            self.storedSize = storedSize
            self.modified = modified
            self.mode = mode
            self.links = links
            self.fileNumber = fileNumber
            self.protection = protection
            self.backup = backup
            self.excluded = excluded
            self.purgeable = purgeable
            self.target = target
            self.fault = fault
        }

        private enum CodingKeys: CodingKey {
            case path, kind, size, storedSize, modified, mode, links, fileNumber, protection, backup, excluded,
                purgeable, target, fault, pathBytes
        }

        /// Writes null where there is nothing, so that a script finds the keys in every answer.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(path, forKey: .path)
            try container.encode(kind, forKey: .kind)
            try container.encode(size, forKey: .size)
            try container.encode(storedSize, forKey: .storedSize)
            try container.encode(modified, forKey: .modified)
            try container.encode(mode, forKey: .mode)
            try container.encode(links, forKey: .links)
            try container.encode(fileNumber, forKey: .fileNumber)
            try container.encode(protection, forKey: .protection)
            try container.encode(backup, forKey: .backup)
            try container.encode(excluded, forKey: .excluded)
            try container.encode(purgeable, forKey: .purgeable)
            try container.encode(target, forKey: .target)
            try container.encode(fault, forKey: .fault)
            try container.encode(pathBytes, forKey: .pathBytes)
        }
    }

    public var app: String
    /// The directory, relative to the app's home.
    public var path: String
    /// Depth-first, the names of a directory by their bytes.
    public var files: [File]
    /// The place behind which the next part begins, for ``FilesRequest/after``; null behind the last entry.
    public var next: String?

    public init(app: String, path: String, files: [File], next: String?) {
        self.app = app
        self.path = path
        self.files = files
        self.next = next
    }

    private enum CodingKeys: CodingKey {
        case app, path, files, next
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(app, forKey: .app)
        try container.encode(path, forKey: .path)
        try container.encode(files, forKey: .files)
        try container.encode(next, forKey: .next)
    }
}
