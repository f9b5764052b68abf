// Extended attributes in backups, and the names that an app's attributes can have.

extension BackupEntry {
    /// An extended attribute, under the name that the host has for it.
    public struct Attribute: Hashable, Sendable {
        public let name: [UInt8]
        public let value: [UInt8]

        public init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }
}

extension BackupEntry.Attribute {
    /// The namespace of Linux for attributes of users, with its dot. Other namespaces, such as `security.`, have a
    /// meaning on the host, such as capabilities that a file gives to the process that executes it.
    public static let namespace = Array("user.".utf8)
    /// The names that this project gives a meaning of its own. A mount refuses to set them.
    public static let reservedPrefix = Array("user.appcontainer.".utf8)
    /// XATTR_NAME_MAX of Linux, in bytes.
    private static let longestName = 255

    /// Whether an app can have set an attribute of this name on one of its files. A restore refuses all others, as
    /// backups are untrusted input.
    public static func isAppName(_ name: [UInt8]) -> Bool {
        name.starts(with: namespace) && name.count > namespace.count && name.count <= longestName && !name.contains(0)
            && !name.starts(with: reservedPrefix)
    }
}
