// The order of entries, and what follows from it: no entry twice, and none without a directory to lie in.

public import SandboxModel

/// Follows the entries of a backup as they come.
///
/// They come in the order of a walk, so that the last one is all that has to be remembered, however many there are: the
/// directories that it lies in came before it.
public struct WalkOrder: Sendable {
    private var last: (domain: BackupDomain, path: [FileName], isDirectory: Bool)?

    /// What has to be said of an entry in its place.
    public enum Step: Hashable, Sendable {
        /// Nothing is missing.
        case inPlace
        /// The directory with so many names of the path has to come first.
        case missing(Int)
        /// It is the one that came last.
        case repeated
        /// One that comes later was there already, and perhaps this one, too.
        case outOfOrder
        /// What it lies in is no directory.
        case belowFile
    }

    public init() {}

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
        // Directories on the way to the last path, itself included where it is one.
        let present = min(common, last.isDirectory ? last.path.count : last.path.count - 1)
        return present == path.count - 1 ? .inPlace : .missing(present + 1)
    }

    /// Takes in an entry that is in its place.
    public mutating func advance(to path: [FileName], in domain: BackupDomain, isDirectory: Bool) {
        last = (domain, path, isDirectory)
    }
}
