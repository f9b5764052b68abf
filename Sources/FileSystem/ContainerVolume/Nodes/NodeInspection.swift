// The facts that the daemon shows about one path.

public import Platform
public import SandboxModel

/// What the volume knows of one node.
public struct NodeInspection: Sendable {
    public let zone: Zone
    /// As the mount shows it.
    public let shown: FileStatus
    /// As the host stores it.
    public let stored: FileStatus
    /// The class of a file's content, or the one that a directory gives to what is made in it; nil for what has none,
    /// and for a bundle, which is stored as it is.
    public let protection: ProtectionClass?
    /// Whether the content can be read in the device's present state.
    public let isReadable: Bool
    /// Whether it goes into a backup.
    public let inclusion: BackupInclusion
    /// Whether it says so itself: by the mark, or as one of the places that are never in a backup.
    public let isExcluded: Bool
}
