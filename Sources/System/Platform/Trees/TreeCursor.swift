// A place in a tree of directories of any depth, with a bounded number of descriptors and no long path.

public import SandboxModel

/// A directory in a tree, from which the next is one step down or up.
///
/// The last directories on the way are open. Farther up, the way back is `..`, which has to lead to the directory that
/// the way down came from: another process may have moved a part of the tree meanwhile.
public final class TreeCursor {
    private struct Level {
        let name: FileName
        let identity: FileStatus.Identity

        func leads(to status: FileStatus) -> Bool { identity == status.identity }
    }

    private static let capacity = 64

    private let root: SharedDescriptor
    /// The way from the root, whose names lead to the directory.
    private var levels: [Level] = []
    /// The innermost directories on the way, the last of which is the cursor's own.
    private var open: [SharedDescriptor] = []

    /// A cursor at the top of a tree.
    public init(_ root: SharedDescriptor) { self.root = root }

    /// The directory that the cursor is at; an `O_PATH` one, except perhaps for the root.
    public var directory: SharedDescriptor { open.last ?? root }

    /// The number of directories below the root.
    public var depth: Int { levels.count }

    /// The names that lead here from the root.
    public var path: [FileName] { levels.map(\.name) }

    /// The last of them.
    public var name: FileName? { levels.last?.name }

    /// Goes to a directory in this one, following no link.
    /// - Throws: ENOENT, ENOTDIR and other errors of the host. The cursor stays where it is.
    public func enter(_ name: FileName) throws(SystemError) {
        let inner = SharedDescriptor(try directory.descriptor.openDirectory(name))
        levels.append(Level(name: name, identity: try inner.descriptor.status().identity))
        if open.count == TreeCursor.capacity { open.removeFirst(TreeCursor.capacity / 2) }
        open.append(inner)
    }

    /// Goes back to the directory above, or farther, to the next one that is still where the way down came through it.
    /// - Returns: the number of directories that the cursor has left; more than one where a part of the tree was moved.
    @discardableResult
    public func leave() -> Int {
        let left = open.removeLast()
        levels.removeLast()
        guard open.isEmpty, let level = levels.last else { return 1 }
        if let above = try? left.descriptor.openParent(), let status = try? above.status(), level.leads(to: status) {
            open.append(SharedDescriptor(above))
            return 1
        }
        // From the top, as far as the way is as it was.
        var intact = 0
        for level in levels {
            guard let next = try? directory.descriptor.openDirectory(level.name), let status = try? next.status(),
                level.leads(to: status)
            else { break }
            open = [SharedDescriptor(next)]
            intact += 1
        }
        let lost = levels.count - intact
        levels.removeLast(lost)
        return 1 + lost
    }
}
