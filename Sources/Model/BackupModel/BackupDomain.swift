// The parts of a backup, by the names that Finder's backups give them.

public import SandboxModel

/// One container in a backup.
///
/// A real phone's backup has more of them: `HomeDomain` and its siblings, and those of plug-ins. They have a name and
/// nothing else that matters here.
public enum BackupDomain: Hashable, Sendable, Comparable {
    /// An app's data container: `AppDomain-com.example.Notes`.
    case app(ContainerIdentifier)
    /// A group container: `AppDomainGroup-group.com.example`.
    case group(ContainerIdentifier)
    /// Any other.
    case other(String)

    private static let appPrefix = "AppDomain-"
    private static let groupPrefix = "AppDomainGroup-"

    /// - Parameter name: as it stands in `Manifest.db`, or as the first directory of a tar's paths.
    public init(name: String) {
        if name.hasPrefix(BackupDomain.appPrefix),
            let identifier = ContainerIdentifier(String(name.dropFirst(BackupDomain.appPrefix.count)))
        {
            self = .app(identifier)
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
        case .group(let identifier): BackupDomain.groupPrefix + identifier.text
        case .other(let name): name
        }
    }

    /// In the order in which a backup has them: byte by byte of the name.
    public static func < (left: Self, right: Self) -> Bool {
        left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }
}
