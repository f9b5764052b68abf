// The reply to a survey: the content of an app's containers, by size.

/// An app's containers and their parts.
public struct Survey: Codable, Hashable, Sendable {
    /// A file or directory, or many small files of one directory together.
    public struct Node: Codable, Hashable, Sendable {
        public enum Backup: String, Codable, Sendable {
            case included, excluded
        }

        /// Empty for small files together.
        public var name: String
        /// Bytes of content as the app sees them; for a directory, of all files in it.
        public var size: Int64
        /// The number of files.
        public var files: Int
        /// By Foundation's name; null for a directory.
        public var protection: String?
        /// Its place in a backup. Files in an included directory may be excluded.
        public var backup: Backup
        /// Whether it may be purged while the app is not running.
        public var purgeable: Bool
        /// The content of a directory, the largest first; null for a file.
        public var children: [Node]?

        public init(
            name: String, size: Int64, files: Int, protection: String? = nil, backup: Backup, purgeable: Bool,
            children: [Node]? = nil
        ) {
            self.name = name
            self.size = size
            self.files = files
            self.protection = protection
            self.backup = backup
            self.purgeable = purgeable
            self.children = children
        }
    }

    public var app: String
    /// The name under the icon.
    public var name: String
    public var version: String
    /// The device's state, as ``DeviceStatus/state``.
    public var state: String
    /// The protection classes whose files can be read now, by Foundation's names.
    public var readable: [String]
    public var running: Bool
    /// Bytes available on the device.
    public var available: Int64
    /// The data container, then groups and iCloud containers, by their paths in the app's home.
    public var containers: [Node]

    public init(
        app: String, name: String, version: String, state: String, readable: [String], running: Bool, available: Int64,
        containers: [Node]
    ) {
        self.app = app
        self.name = name
        self.version = version
        self.state = state
        self.readable = readable
        self.running = running
        self.available = available
        self.containers = containers
    }
}
