// The order in which entries come, and the directories that a backup leaves out.

import SandboxModel

/// Where in a domain's tree a reading stands: known from the last path alone.
struct WalkOrder {
    private var last: (path: [FileName], isDirectory: Bool)?

    enum Step: Equatable {
        /// Nothing is missing.
        case inPlace
        /// The directory with so many names of the path has to come first.
        case missing(Int)
        /// The path was there already, or one that comes later.
        case outOfOrder
        /// What it lies in is no directory.
        case belowFile
    }

    func step(to path: [FileName]) -> Step {
        guard let last else { return path.isEmpty ? .inPlace : .missing(0) }
        let common = zip(last.path, path).prefix { $0 == $1 }.count
        if common == path.count { return .outOfOrder }
        if common == last.path.count {
            guard last.isDirectory else { return .belowFile }
        } else if path[common].bytes.lexicographicallyPrecedes(last.path[common].bytes) {
            return .outOfOrder
        }
        // Directories on the way to the last path, itself included where it is one.
        let known = last.isDirectory ? last.path.count : last.path.count - 1
        let present = min(common, known)
        return present == path.count - 1 ? .inPlace : .missing(present + 1)
    }

    mutating func advance(to path: [FileName], isDirectory: Bool) {
        last = (path, isDirectory)
    }
}
