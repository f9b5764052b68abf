// A node that loses a name: a descriptor keeps it reachable for those who have it open.

import BackingStore
import Platform
import SandboxModel

/// A node that a name leads to, as the host has it.
struct NamedNode {
    /// Names the node when its name is gone.
    let descriptor: SharedDescriptor
    let status: FileStatus
    /// How many changes had been counted before the host was asked.
    private let changes: UInt64

    /// - Throws: the host's error.
    init(_ name: FileName, in directory: SharedDescriptor, of openFiles: OpenFileTable) throws(Fault) {
        let changes = openFiles.changeCount
        let descriptor = try onHost { () throws(SystemError) in
            SharedDescriptor(try directory.descriptor.openNode(name))
        }
        try self.init(descriptor, changes)
    }

    private init(_ descriptor: SharedDescriptor, _ changes: UInt64) throws(Fault) {
        self.descriptor = descriptor
        self.changes = changes
        status = try onHost { () throws(SystemError) in try descriptor.descriptor.status() }
    }

    /// Whether a file that nobody has open must have this status still.
    func isCurrent(in openFiles: OpenFileTable) -> Bool { openFiles.changeCount == changes }

    /// The node with its status now: the host is asked again only where another call may have changed a file since. The
    /// caller holds the lock of its place.
    func renewed(in openFiles: OpenFileTable) throws(Fault) -> NamedNode {
        let changes = openFiles.changeCount
        return changes == self.changes ? self : try NamedNode(descriptor, changes)
    }
}

/// A directory entry that is about to lose its name, by removal or because another entry replaces it.
///
/// From the making of this value until its release the caller holds the volume's `names` exclusively, or, for a file,
/// the locks of the directory's entries and of the file's place (``EntryLocks``).
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
        try self.init(NamedNode(name, in: directory, of: openFiles), name, in: parent, of: openFiles)
    }

    /// - Throws: EMFILE or ENFILE where an open file would be left without a descriptor.
    init(_ named: NamedNode, _ name: FileName, in parent: Node, of openFiles: OpenFileTable) throws(Fault) {
        let table = openFiles.table
        let (descriptor, status) = (named.descriptor, named.status)
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
        isSettled = !isOpen && named.isCurrent(in: openFiles)
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
        guard isLast else { return elsewhere }
        // Under the table's lock, because a lookup by another name may come in between and add that name. The
        // descriptor of an earlier last name is closed after it.
        var earlier: SharedDescriptor?
        table.withNames(of: node) { node in
            guard node.parent == nil else { return }
            node.withRare { rare in
                earlier = rare.orphan
                rare.orphan = descriptor
                rare.lastStatus = status
            }
        }
        _ = earlier
        return elsewhere
    }
}
