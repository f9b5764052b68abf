// Directories whose modes keep the user out who makes them.

import Glibc
import Platform
import SandboxModel

/// The directories of a tree that are to get their modes at last, in the order in which the tree was left: each after
/// those in it. Takes as much memory as they and those above them have names, however deep they lie.
struct ClosedDirectories {
    private struct Directory {
        /// The index of the one above it; nil for the top of the tree.
        let above: Int?
        let name: FileName
        /// nil for one that is only on the way.
        var mode: mode_t?
    }

    private var directories: [Directory] = []
    /// The indices of the directories on the way that are known.
    private var way: [Int] = []
    /// The closed ones, in order.
    private var closed: [Int] = []

    /// Notes the present directory, which is being left.
    /// - Parameter path: the names that lead to it; those of calls before that are no part of it have been left.
    mutating func add(_ path: [FileName], mode: mode_t) {
        let known = way.count
        for name in path.dropFirst(known) {
            directories.append(Directory(above: way.last, name: name, mode: nil))
            way.append(directories.count - 1)
        }
        directories[way[path.count - 1]].mode = mode
        closed.append(way[path.count - 1])
    }

    /// Notes that a directory was left.
    /// - Parameter depth: how many names led to it.
    mutating func left(depth: Int) {
        if way.count >= depth { way.removeSubrange((depth - 1)...) }
    }

    /// Sets the modes.
    /// - Parameter cursor: at the top of the tree.
    func setModes(_ cursor: TreeCursor) throws(SystemError) {
        var present: [Int] = []
        for index in closed {
            var wanted: [Int] = []
            var next = directories[index].above
            while let above = next {
                wanted.append(above)
                next = directories[above].above
            }
            wanted.reverse()
            let common = zip(present, wanted).prefix { $0 == $1 }.count
            for _ in common..<present.count { guard cursor.leave() == 1 else { throw .stale } }
            for step in wanted[common...] { try cursor.enter(directories[step].name) }
            present = wanted
            guard let mode = directories[index].mode else { continue }
            try cursor.directory.descriptor.changeMode(of: directories[index].name, to: mode)
        }
    }
}
