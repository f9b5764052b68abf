// One entry of a listing that is made for people, with the facts about it.

public import Platform
public import SandboxModel

/// An entry of a home, as the mount shows it, with the rules that hold for it.
public struct ListedNode: Sendable {
    /// From the app's home.
    public let path: [FileName]
    /// As the mount shows it. The blocks are those that the host has for it.
    public let shown: FileStatus
    /// The class of a file's content, or the class that a directory gives to new entries; nil for a node without a
    /// class, and for a file whose header is damaged.
    public let protection: ProtectionClass?
    /// Whether a backup includes it.
    public let inclusion: BackupInclusion
    /// Whether the entry itself is excluded: by the mark, or as one of the places that are never in a backup.
    public let isExcluded: Bool
    /// Whether the system may remove it when space is low.
    public let isPurgeable: Bool
    /// The target of a symbolic link.
    public let target: [UInt8]?
}

/// A part of a listing.
public struct Listing: Sendable {
    /// Depth-first, the names of a directory by their bytes.
    public internal(set) var entries: [ListedNode] = []
    /// Whether the listing ended with its last entry. Otherwise it goes on behind that.
    public internal(set) var isComplete = true
}

/// The part of a directory's content that is listed.
public struct ListingOrder: Sendable {
    /// The directory, from the home.
    public let directory: [FileName]
    /// Whether what lies in its directories is listed too.
    public let isRecursive: Bool
    /// The entry behind which the listing begins, from the home; nil for the first. It need not be there any more.
    public let after: [FileName]?
    /// The most entries.
    public let limit: Int

    public init(directory: [FileName], isRecursive: Bool = false, after: [FileName]? = nil, limit: Int) {
        self.directory = directory
        self.isRecursive = isRecursive
        self.after = after
        self.limit = limit
    }
}
