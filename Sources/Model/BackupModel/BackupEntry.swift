// One entry of a backup.

public import Glibc
public import SandboxModel

/// A file, directory, link, fifo or socket of one container, with everything that a backup keeps of it.
public struct BackupEntry: Sendable {
    public enum Kind: Hashable, Sendable {
        case file(Content)
        case directory
        /// The target, as the app wrote it.
        case symbolicLink([UInt8])
        /// A further name of an earlier file, link, fifo or socket: the first path of that, in the same container.
        /// Class, mark and attributes come with the first path.
        case hardLink([FileName])
        case fifo
        case socket
    }

    /// The form of a file's content in the backup.
    public enum Content: Hashable, Sendable {
        /// The content that the app sees.
        /// - Parameters:
        ///   - length: in bytes.
        ///   - data: the ranges that are not holes, ascending; a file without holes has one range, an empty one none.
        case plain(length: Int64, data: [Range<Int64>])
        /// The backing file, encrypted, because the key of its class was not available, and then the proof of its
        /// origin. The device that made it can decrypt it, whose keybag has this identifier, and another with the
        /// keybag and the backup password that ``BackupSource/passwordKeybag`` is for. `length` is in bytes, of both.
        case sealed(length: Int64, keybag: [UInt8])

        /// Bytes of the file in the backup, including holes.
        public var length: Int64 {
            switch self {
            case .plain(let length, _), .sealed(let length, _): length
            }
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
    /// The class of a file; of a directory the class that it gives to new entries, nil for the default.
    public var protection: ProtectionClass?
    /// Whether the entry bears the mark of exclusion. Such an entry is in a backup only by `--ignore-exclusions`.
    public var isExcluded: Bool
    /// The app's own extended attributes, sorted by name, without class and mark.
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
    /// The display name; empty if the backup has none.
    public var name: String
    /// CFBundleShortVersionString; empty if the backup has none.
    public var version: String
    public var groups: [ContainerIdentifier]
    /// Whether it is an app extension.
    public var isExtension: Bool
    /// The container's user. A restore gives that user's files to the user of the target device.
    public var owner: uid_t
    public var ownerGroup: gid_t

    public init(
        identifier: ContainerIdentifier, name: String, version: String, groups: [ContainerIdentifier],
        isExtension: Bool = false, owner: uid_t, ownerGroup: gid_t
    ) {
        self.identifier = identifier
        self.name = name
        self.version = version
        self.groups = groups
        self.isExtension = isExtension
        self.owner = owner
        self.ownerGroup = ownerGroup
    }

    /// The domain of its data container.
    public var domain: BackupDomain { isExtension ? .plugin(identifier) : .app(identifier) }
}
