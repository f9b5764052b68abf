// Apple's rules for stored data, from "iOS Data Storage Guidelines" and App Review's former section 2.23: pure
// functions from a file and its place to the rules that it breaks.

public import SandboxModel

/// The sort of a file, by its name.
public enum StoredSort: String, CaseIterable, Sendable {
    /// Can be made or downloaded again: a cache, a download under way, a temporary file.
    case recreatable
    /// Made by a person; nothing can make it again.
    case document
    /// A picture, a film, a sound: a person's own in `Documents`, elsewhere perhaps not.
    case media
    /// Holds an app's own data.
    case database
    case ordinary
}

/// A rule of the guidelines.
public enum AuditRule: String, CaseIterable, Sendable {
    /// A recreatable file or directory would be backed up.
    case recreatableBackedUp
    /// A document, by a pattern of the user's, would not be backed up.
    case documentNotBackedUp
    /// A file that is a document by its name only would not be backed up. The guidelines ask for that where it is a
    /// download.
    case documentExcluded
    /// A document can be read while the device is locked.
    case documentReadableWhileLocked
    /// A document or database lies where it may be purged.
    case irreplaceablePurgeable
    /// A document or database lies in `tmp`, which an update does not keep.
    case irreplaceableLostByUpdate
    /// A directory of `Library` that is excluded is not named after the app.
    case excludedDirectoryName

    /// Whether it alone makes an audit fail; the others are advice.
    public var isBreach: Bool {
        switch self {
        case .recreatableBackedUp, .documentNotBackedUp, .irreplaceablePurgeable, .irreplaceableLostByUpdate: true
        case .documentExcluded, .documentReadableWhileLocked, .excludedDirectoryName: false
        }
    }
}

/// One file or directory as the guidelines see it.
public struct AuditedItem: Sendable {
    /// The names from the container down to the item, itself the last one; none is the container.
    public var path: [FileName]
    /// Whether the container is the app's data container, or else a group's.
    public var isData: Bool
    public var isDirectory: Bool
    /// By its name and its first bytes.
    public var sort: StoredSort
    /// Whether a pattern of the user's says so, and not one that is built in.
    public var isSortedByUser: Bool
    /// Whether a backup has it, and what keeps it out.
    public var inclusion: BackupInclusion
    /// Whether it bears the mark itself.
    public var isMarked: Bool
    /// Of a file; nil for a directory, and for a file that has none or whose class cannot be told.
    public var protection: ProtectionClass?

    /// Nothing is checked: an item that contradicts itself, such as a directory with a class, breaks the rules of
    /// whatever it says.
    /// - Parameters:
    ///   - path: from the container.
    ///   - isData: whether that is the app's data container.
    ///   - inclusion: with the marks of all directories above the item, where `isMarked` is about its own mark alone.
    public init(
        path: [FileName], isData: Bool, isDirectory: Bool, sort: StoredSort, isSortedByUser: Bool = false,
        inclusion: BackupInclusion, isMarked: Bool, protection: ProtectionClass?
    ) {
        self.path = path
        self.isData = isData
        self.isDirectory = isDirectory
        self.sort = sort
        self.isSortedByUser = isSortedByUser
        self.inclusion = inclusion
        self.isMarked = isMarked
        self.protection = protection
    }
}

public enum AuditRules {
    /// The rules that an item breaks. The content of a directory that breaks one as a whole is not asked about.
    /// - Parameter app: the bundle identifier.
    public static func broken(by item: AuditedItem, of app: ContainerIdentifier) -> [AuditRule] {
        if item.isDirectory { return directoryRules(item, app) }
        var broken: [AuditRule] = []
        let sort = item.sort == .media ? (isIn(documents, item) ? .document : .ordinary) : item.sort
        switch sort {
        case .recreatable:
            if item.inclusion == .included { broken.append(.recreatableBackedUp) }
        case .document, .database:
            if isIn(temporary, item) {
                broken.append(.irreplaceableLostByUpdate)
            } else if item.path.starts(with: caches) {
                broken.append(.irreplaceablePurgeable)
            } else if item.inclusion != .included, sort == .document {
                broken.append(item.isSortedByUser ? .documentNotBackedUp : .documentExcluded)
            }
        case .media, .ordinary: break
        }
        if sort == .document, !isIn(temporary, item), !item.path.starts(with: caches), let protection = item.protection,
            protection != .complete
        {
            broken.append(.documentReadableWhileLocked)
        }
        return broken
    }

    private static func directoryRules(_ item: AuditedItem, _ app: ContainerIdentifier) -> [AuditRule] {
        if item.sort == .recreatable, item.inclusion == .included { return [.recreatableBackedUp] }
        guard item.isData, item.isMarked, item.inclusion == .excluded, item.path.first == HomeLayout.library,
            item.path.count > 1, !item.path.contains(where: { $0.text == app.text })
        else { return [] }
        return [.excludedDirectoryName]
    }

    private static let caches = PurgeableDirectory.caches.path
    private static let documents = [HomeLayout.documents]
    private static let temporary = PurgeableDirectory.temporary.path

    private static func isIn(_ directory: [FileName], _ item: AuditedItem) -> Bool {
        item.isData && item.path.starts(with: directory)
    }
}
