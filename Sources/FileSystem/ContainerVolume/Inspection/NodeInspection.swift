// The facts that the daemon shows about one path.

public import Platform
public import SandboxModel

/// The facts about one node, as the mount and the host have them.
public struct NodeInspection: Sendable {
    public let zone: Zone
    /// As the mount shows it.
    public let shown: FileStatus
    /// As the host stores it.
    public let stored: FileStatus
    /// The class of a file's content, or the class that a directory gives to new entries; nil for a node without a
    /// class and for a bundle, which is stored in plain.
    public let protection: ProtectionClass?
    /// The class that the directory above gives to new entries; nil where it gives none.
    public let protectionAbove: ProtectionClass?
    /// Whether the content can be read in the device's present state.
    public let isReadable: Bool
    /// Whether a backup includes it.
    public let inclusion: BackupInclusion
    /// Whether the node itself is excluded: by the mark, or as one of the places that are never in a backup.
    public let isExcluded: Bool
    /// Every extended attribute that a call on the mount can read, in each of its forms.
    public internal(set) var attributes: [(name: [UInt8], value: [UInt8])] = []
}
