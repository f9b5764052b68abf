// The files of group containers, for a look at the locks that processes hold on them. The kernel keeps the locks
// itself.

public import SandboxModel

extension Volume {
    /// A file of a group container that the kernel knows, without locks.
    /// - Parameter inode: its number on the mount.
    /// - Returns: nil for a file in another container, and for one that has lost its name: nobody else can wait for it.
    public func fileInGroup(inode: UInt64) -> LockedFile? {
        guard let node = table.known(inode: inode), isInGroup(node), let path = table.homePath(of: node).path else {
            return nil
        }
        let isExempt = (try? attribute(Array(LockedFile.exemption.utf8), of: node.id)) != nil
        return LockedFile(path: path, isExempt: isExempt, locks: [])
    }

    /// The names are looked at under the table's lock, as many as a caller pays for elsewhere.
    private func isInGroup(_ node: Node) -> Bool {
        table.withNames(of: node) { node in
            var candidate = node.parent
            var steps = 0
            while let next = candidate, steps < HomePath.deepest {
                if next.kind == .containers { return next.name == HomeLayout.groups }
                candidate = next.parent
                steps += 1
            }
            return false
        }
    }
}
