// Whether something goes into a backup, and if not, why.

/// What a backup does with one path.
public enum BackupInclusion: Hashable, Sendable {
    case included
    /// By its own mark, or because it is one of the places that are never backed up.
    case excluded
    /// By a directory above it; the path is relative to the app's home.
    case excludedBy([FileName])

    /// The extended attribute by which it is read.
    public static let attributeName = "user.appcontainer.backup"

    /// The attribute's value: bytes, because names are.
    public var attributeValue: [UInt8] {
        switch self {
        case .included: Array("included".utf8)
        case .excluded: Array("excluded".utf8)
        case .excludedBy(let path):
            Array("excluded-by:".utf8) + path.joined
        }
    }
}
