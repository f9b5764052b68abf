// A node that loses a name: a descriptor keeps it reachable for those who have it open.

import BackingStore
import Platform
import SandboxModel

/// A directory entry that is about to lose its name, by removal or because another entry replaces it.
///
/// The caller holds the volume's `names` exclusively from the making of this value until its release.
struct RemovedName {
    /// nil where the kernel does not know the node.
    let node: Node?
    /// The nodes of a directory in other homes.
    let others: [Node]
    /// Names the node when its name is gone.
    let descriptor: SharedDescriptor
    /// Whether no other name of the node is known.
    let isLast: Bool
    /// On the host, before the removal.
    let status: FileStatus
    /// Whether nothing can have changed the content since the host was asked: nobody had the file open.
    let isSettled: Bool

    /// Opens a descriptor of the node before its name goes.
    /// - Throws: the host's error; EMFILE or ENFILE where an open file would be left without a descriptor.
    init(_ name: FileName, in parent: Node, _ directory: SharedDescriptor, of openFiles: OpenFileTable) throws(Fault) {
        let table = openFiles.table
        let closings = openFiles.closingCount
        let descriptor = try onHost { () throws(SystemError) in
            SharedDescriptor(try directory.descriptor.openNode(name))
        }
        let status = try onHost { () throws(SystemError) in try descriptor.descriptor.status() }
        let nodes = status.kind == .directory ? table.nodes(inode: status.inode) : []
        node = nodes.first ?? table.known(inode: status.inode)
        others = Array(nodes.dropFirst())
        self.descriptor = descriptor
        self.status = status
        guard let node else {
            isLast = false
            isSettled = false
            return
        }
        // A directory has one name, which a home may have lost sight of.
        isLast = node.kind == .directory || table.isOnlyName(name, in: parent, of: node)
        let isOpen = openFiles.lock(of: node).reading { node.open != nil }
        isSettled = !isOpen && openFiles.closingCount == closings
        // A node that nobody has open is forgotten at once.
        if isLast, isOpen {
            try onHost { () throws(SystemError) in try descriptor.descriptor.requireNotOfReserve() }
        }
    }

    /// Takes the name from the nodes. A node without a name is reached by the descriptor from then on.
    /// - Returns: the directory's nodes in other homes that knew the name.
    @discardableResult
    func removeName(_ name: FileName, in parent: Node, from table: NodeTable) -> [Node] {
        guard let node else { return [] }
        var elsewhere = removeName(name, in: parent, of: node, from: table)
        for other in others { elsewhere += removeName(name, in: parent, of: other, from: table) }
        return elsewhere
    }

    private func removeName(_ name: FileName, in parent: Node, of node: Node, from table: NodeTable) -> [Node] {
        let elsewhere = table.removeName(name, in: parent, of: node)
        if isLast, node.parent == nil {
            node.withRare { rare in
                rare.orphan = descriptor
                rare.lastStatus = status
            }
        }
        return elsewhere
    }
}
