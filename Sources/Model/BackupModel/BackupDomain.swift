// The domains of a backup, by the names of Finder backups.

public import SandboxModel

/// A container in a backup.
///
/// An iPhone's backup has further domains, such as `HomeDomain` and those of plug-ins. Only their names matter here.
public enum BackupDomain: Hashable, Sendable, Comparable {
    /// An app's data container: `AppDomain-com.example.Notes`.
    case app(ContainerIdentifier)
    /// An app extension's data container: `AppDomainPlugin-com.example.Notes.Share`.
    case plugin(ContainerIdentifier)
    /// A group container: `AppDomainGroup-group.com.example`.
    case group(ContainerIdentifier)
    /// Any other, by its name.
    case other(String)

    private static let appPrefix = "AppDomain-"
    private static let pluginPrefix = "AppDomainPlugin-"
    private static let groupPrefix = "AppDomainGroup-"

    /// - Parameter name: the name in `Manifest.db`, or the first directory of a path in a tar.
    public init(name: String) {
        if name.hasPrefix(BackupDomain.appPrefix),
            let identifier = ContainerIdentifier(String(name.dropFirst(BackupDomain.appPrefix.count)))
        {
            self = .app(identifier)
        } else if name.hasPrefix(BackupDomain.pluginPrefix),
            let identifier = ContainerIdentifier(String(name.dropFirst(BackupDomain.pluginPrefix.count)))
        {
            self = .plugin(identifier)
        } else if name.hasPrefix(BackupDomain.groupPrefix),
            let identifier = ContainerIdentifier(String(name.dropFirst(BackupDomain.groupPrefix.count)))
        {
            self = .group(identifier)
        } else {
            self = .other(name)
        }
    }

    public var name: String {
        switch self {
        case .app(let identifier): BackupDomain.appPrefix + identifier.text
        case .plugin(let identifier): BackupDomain.pluginPrefix + identifier.text
        case .group(let identifier): BackupDomain.groupPrefix + identifier.text
        case .other(let name): name
        }
    }

    /// The app, extension or group; nil for any other.
    public var identifier: ContainerIdentifier? {
        switch self {
        case .app(let identifier), .plugin(let identifier), .group(let identifier): identifier
        case .other: nil
        }
    }

    /// The order of domains in a backup: by the bytes of the name.
    public static func < (left: Self, right: Self) -> Bool {
        left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }
}
