// One entry of a listing that is made for people, with the facts about it.

public import Platform
public import SandboxModel

/// An entry of a home, as the mount shows it, with the rules that hold for it.
public struct ListedNode: Sendable {
    /// From the app's home.
    public let path: [FileName]
    /// As the mount shows it. The blocks are those that the host has for it. Where the entry cannot be looked at, it
    /// has its kind alone.
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
    /// The fault that keeps it from being looked at, or its content from being listed; nil for nearly all.
    public internal(set) var fault: Fault?
}

extension ListedNode {
    /// Bytes of the paths in it.
    var length: Int {
        var names = path
        if case .excludedBy(let directory) = inclusion { names += directory }
        return names.reduce(target?.count ?? 0) { $0 + $1.terminated.count }
    }

    /// An entry that cannot be looked at.
    init(at path: [FileName], _ shown: FileStatus, _ standing: ContentsWalk.Standing, _ fault: Fault) {
        self.init(
            path: path, shown: shown, protection: nil, inclusion: standing.inclusion(of: path, isExcluded: false),
            isExcluded: false, isPurgeable: standing.isPurgeable, target: nil, fault: fault)
    }
}

/// A part of a listing.
public struct Listing: Sendable {
    /// Depth-first, the names of a directory by their bytes.
    public internal(set) var entries: [ListedNode] = []
    /// Whether the listing ended with its last entry.
    public internal(set) var isComplete = true
    /// The place that was looked at last, from the home: the next part begins behind it.
    public internal(set) var end: [FileName]?
}

/// The part of a directory's content that is listed.
public struct ListingOrder: Sendable {
    /// The directory, from the home.
    public let directory: [FileName]
    /// Whether what lies in its directories is listed too.
    public let isRecursive: Bool
    /// The place behind which the listing begins, from the home: that of an entry that the listing may have, which need
    /// not be there any more. nil for the first.
    public let after: [FileName]?
    /// The most entries.
    public let limit: Int
    /// Asked from time to time: nobody waits for the listing any more.
    public let isAbandoned: @Sendable () -> Bool

    public init(
        directory: [FileName], isRecursive: Bool = false, after: [FileName]? = nil, limit: Int,
        isAbandoned: @escaping @Sendable () -> Bool = { false }
    ) {
        self.directory = directory
        self.isRecursive = isRecursive
        self.after = after
        self.limit = limit
        self.isAbandoned = isAbandoned
    }

    /// Whether the place behind which the listing begins is one that the listing can have.
    public var beginsInside: Bool {
        guard let after else { return true }
        let depth = after.count - directory.count
        return after.starts(with: directory) && (isRecursive ? depth > 0 : depth == 1)
    }

    /// - Throws: ECANCELED when nobody waits for the listing any more.
    func requireReader() throws(Fault) {
        if isAbandoned() { throw .system(.cancelled) }
    }
}
