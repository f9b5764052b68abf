// Whether a path goes into a backup, and if not, why.

/// The treatment of one path by backups.
///
/// This is the answer. The rules are in `SandboxPolicy+Backup.swift`: `neverInBackup(_:bundle:)` names the places of a
/// home that are never in a backup, as the mount shows them; `isNeverInBackup(inData:)` names those of a data
/// container, as the host has them and a backup walks over them; `inclusion(of:never:isMarked:)` adds the marks
/// (``BackupMark``).
public enum BackupInclusion: Hashable, Sendable {
    case included
    /// By its own mark, or because it is one of the places that are never backed up.
    case excluded
    /// By a directory above it; the path is relative to the app's home.
    case excludedBy([FileName])

    /// The extended attribute of a mount that shows it.
    public static let attributeName = "user.appcontainer.backup"

    /// The attribute's value. It is bytes, as paths are.
    public var attributeValue: [UInt8] {
        switch self {
        case .included: Array("included".utf8)
        case .excluded: Array("excluded".utf8)
        case .excludedBy(let path):
            Array("excluded-by:".utf8) + path.joined
        }
    }
}
