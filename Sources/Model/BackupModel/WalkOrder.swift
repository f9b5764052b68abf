// The check of the order of entries: no entry comes twice, and none before its directory.

public import SandboxModel

/// The position in a backup whose entries come one by one.
///
/// In the order of a walk the last entry is all that has to be remembered: its directories came before it.
public struct WalkOrder: Sendable {
    private var last: (domain: BackupDomain, path: [FileName], isDirectory: Bool)?

    /// The relation of an entry to the one before.
    public enum Step: Hashable, Sendable {
        /// The entry is in order.
        case inPlace
        /// A directory has to come first: that of so many names of the path.
        case missing(Int)
        /// The entry is the one that came last.
        case repeated
        /// A later entry has come already, and perhaps this one too.
        case outOfOrder
        /// The path leads through an entry that is no directory.
        case belowFile
    }

    public init() {}

    /// The relation of an entry to the last one.
    public func step(to path: [FileName], in domain: BackupDomain) -> Step {
        guard let last, last.domain == domain else {
            if let last, domain < last.domain { return .outOfOrder }
            return path.isEmpty ? .inPlace : .missing(0)
        }
        var common = 0
        while common < path.count, common < last.path.count, path[common] == last.path[common] { common += 1 }
        if common == path.count { return common == last.path.count ? .repeated : .outOfOrder }
        if common == last.path.count {
            guard last.isDirectory else { return .belowFile }
        } else if path[common].bytes.lexicographicallyPrecedes(last.path[common].bytes) {
            return .outOfOrder
        }
        // The names of the path whose directories exist: those of the last path, which counts if it is a directory.
        let present = min(common, last.isDirectory ? last.path.count : last.path.count - 1)
        return present == path.count - 1 ? .inPlace : .missing(present + 1)
    }

    /// Goes on to an entry that is in order.
    public mutating func advance(to path: [FileName], in domain: BackupDomain, isDirectory: Bool) {
        last = (domain, path, isDirectory)
    }
}
