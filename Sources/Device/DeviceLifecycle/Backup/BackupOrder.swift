// The request for a backup, its result, and the lines of a list of its content.

public import BackupModel
public import SandboxModel

/// The request for a backup.
public struct BackupOrder: Sendable {
    /// One app with its groups; nil for all.
    public var app: ContainerIdentifier?
    /// Whether files and directories that bear the mark of exclusion go in as well.
    public var ignoresExclusions: Bool
    /// Whether an earlier backup is continued.
    public var isIncremental: Bool

    public init(app: ContainerIdentifier? = nil, ignoresExclusions: Bool = false, isIncremental: Bool = false) {
        self.app = app
        self.ignoresExclusions = ignoresExclusions
        self.isIncremental = isIncremental
    }
}

/// The counts of a backup.
public struct BackupTally: Equatable, Sendable {
    /// Files, each name of one counted.
    public internal(set) var files = 0
    /// Bytes of their contents, as the app sees them.
    public internal(set) var bytes: Int64 = 0
    /// Files that were taken over from the earlier backup.
    public internal(set) var continued = 0
    /// Files that went in as ciphertext, because their class was closed.
    public internal(set) var sealed = 0

    public init() {}
}

/// One entry that a backup would hold or leave out.
public struct BackupListing: Hashable, Sendable {
    /// The reason why a backup leaves an entry out.
    public enum Reason: Hashable, Sendable {
        /// It bears the mark of exclusion.
        case marked
        /// It is one of the places that are never backed up.
        case place
        /// No backup can hold it.
        case kind
    }

    public let domain: BackupDomain
    /// From the container; empty for the container itself.
    public let path: [FileName]
    public let isDirectory: Bool
    /// The length that the app sees; of a directory that is left out, of all files in it.
    public let bytes: Int64
    /// nil for an entry that goes in.
    public let leftOut: Reason?
    /// Whether it goes in as ciphertext.
    public let isSealed: Bool
}
