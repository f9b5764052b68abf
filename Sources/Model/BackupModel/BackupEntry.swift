// One file or directory on its way into a backup or out of one.

public import Glibc
public import SandboxModel

/// A file, directory, link, fifo or socket of one container, with all that a backup keeps of it.
public struct BackupEntry: Sendable {
    public enum Kind: Hashable, Sendable {
        case file(Content)
        case directory
        /// Where it leads, as the app wrote it.
        case symbolicLink([UInt8])
        /// A further name of a file, link, fifo or socket that came before, by its first path in the same container. Class,
        /// mark and attributes come with that.
        case hardLink([FileName])
        case fifo
        case socket
    }

    /// What the bytes of a file in the backup are.
    public enum Content: Hashable, Sendable {
        /// What the app sees.
        /// - Parameters:
        ///   - length: in bytes.
        ///   - data: where it is not a hole, in ascending order; a file without holes has one range, an empty one none.
        case plain(length: Int64, data: [Range<Int64>])
        /// The backing file as it is, of `length` bytes, because its class could not be read: only the device that
        /// made it can, whose keybag has this identifier.
        case sealed(length: Int64, keybag: [UInt8])

        /// The bytes of the file in the backup, holes counted.
        public var length: Int64 {
            switch self {
            case .plain(let length, _), .sealed(let length, _): length
            }
        }
    }

    /// A custom attribute, under the name that the host has for it.
    public struct Attribute: Hashable, Sendable {
        public let name: [UInt8]
        public let value: [UInt8]

        public init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    public var domain: BackupDomain
    /// From the container; empty for the container's own directory.
    public var path: [FileName]
    public var kind: Kind
    /// The permission bits, with set-user-ID and its like: 07777.
    public var permissions: mode_t
    public var owner: uid_t
    public var group: gid_t
    public var modificationTime: timespec
    /// Of a file its class; of a directory the one that it gives to what is made in it, nil where that is the default.
    public var protection: ProtectionClass?
    /// Whether it bears the mark that keeps it out of backups. What bears it is here only by `--ignore-exclusions`.
    public var isExcluded: Bool
    /// Sorted by name. Neither the class nor the mark is among them.
    public var attributes: [Attribute]

    public init(
        domain: BackupDomain, path: [FileName], kind: Kind, permissions: mode_t, owner: uid_t, group: gid_t,
        modificationTime: timespec, protection: ProtectionClass?, isExcluded: Bool, attributes: [Attribute]
    ) {
        self.domain = domain
        self.path = path
        self.kind = kind
        self.permissions = permissions
        self.owner = owner
        self.group = group
        self.modificationTime = modificationTime
        self.protection = protection
        self.isExcluded = isExcluded
        self.attributes = attributes
    }
}

/// An app whose containers are in a backup.
public struct BackupApp: Hashable, Sendable {
    public var identifier: ContainerIdentifier
    /// As a person calls it; empty where nobody knows.
    public var name: String
    /// CFBundleShortVersionString; empty where nobody knows.
    public var version: String
    public var groups: [ContainerIdentifier]
    /// The container's user. What belongs to it belongs to the user of the device that it is restored onto.
    public var owner: uid_t
    public var ownerGroup: gid_t

    public init(
        identifier: ContainerIdentifier, name: String, version: String, groups: [ContainerIdentifier], owner: uid_t,
        ownerGroup: gid_t
    ) {
        self.identifier = identifier
        self.name = name
        self.version = version
        self.groups = groups
        self.owner = owner
        self.ownerGroup = ownerGroup
    }
}
