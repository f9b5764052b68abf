// Taking names away: unlink, rmdir, rename. These hold `names` exclusively, because nodes lose or change their place.

import BackingStore
public import Platform
public import SandboxModel
import SandboxPolicy

extension Volume {
    public func removeFile(_ name: FileName, in parent: NodeID) throws(Fault) {
        try remove(name, in: parent) { (directory) throws(SystemError) in try directory.descriptor.removeFile(name) }
    }

    public func removeDirectory(_ name: FileName, in parent: NodeID) throws(Fault) {
        try remove(name, in: parent) { (directory) throws(SystemError) in
            try directory.descriptor.removeDirectory(name)
        }
    }

    private func remove(
        _ name: FileName, in parent: NodeID, _ call: (SharedDescriptor) throws(SystemError) -> Void
    ) throws(Fault) {
        try names.writing { () throws(Fault) in
            let parent = try self.parent(parent)
            try permit(.remove, on: zone(of: name, in: parent))
            let directory = try directory(parent)
            let kept = try keepReachable(name, in: parent, directory)
            try onHost { () throws(SystemError) in try call(directory) }
            settle(kept, name, parent)
        }
    }

    /// What is about to lose a name, and what names it from then on.
    struct Kept {
        /// nil where the kernel does not know it.
        let node: Node?
        /// Of a directory: as what else homes know it.
        let others: [Node]
        let descriptor: SharedDescriptor
        /// Whether no other name of it is known.
        let isLast: Bool
        let status: FileStatus

        /// - Returns: as what other homes know the directory in which the name was.
        @discardableResult
        func settle(_ table: NodeTable, _ name: FileName, _ parent: Node) -> [Node] {
            guard let node else { return [] }
            var elsewhere = settle(node, table, name, parent)
            for other in others { elsewhere += settle(other, table, name, parent) }
            return elsewhere
        }

        private func settle(_ node: Node, _ table: NodeTable, _ name: FileName, _ parent: Node) -> [Node] {
            let elsewhere = table.removeName(name, in: parent, of: node)
            guard isLast, node.parent == nil else { return elsewhere }
            node.withRare { rare in
                rare.orphan = descriptor
                rare.lastStatus = status
            }
            return elsewhere
        }
    }

    private func settle(_ kept: Kept, _ name: FileName, _ parent: Node) {
        if let node = kept.node, node.isDirectory { directories.drop(node) }
        for other in kept.others { directories.drop(other) }
        forget(name, in: kept.settle(table, name, parent), ofDirectory: kept.status.kind == .directory)
        countRemoved(kept)
        forgetUse(of: kept.status, in: parent)
    }

    /// Takes a descriptor of a known node before its last known name goes, so that it can still be reached by those
    /// who have it open.
    func keepReachable(
        _ name: FileName, in parent: Node, _ directory: SharedDescriptor
    ) throws(Fault) -> Kept {
        let descriptor = try onHost { () throws(SystemError) in
            SharedDescriptor(try directory.descriptor.openNode(name))
        }
        let status = try onHost { () throws(SystemError) in try descriptor.descriptor.status() }
        let nodes = status.kind == .directory ? table.nodes(inode: status.inode) : []
        guard let node = nodes.first ?? table.known(inode: status.inode) else {
            return Kept(node: nil, others: [], descriptor: descriptor, isLast: false, status: status)
        }
        // A directory has one name, which a home may have lost sight of.
        let isLast = node.kind == .directory || table.isOnlyName(name, in: parent, of: node)
        // What nobody has open is forgotten at once.
        if isLast, openLock(of: node).reading({ node.open != nil }) {
            try onHost { () throws(SystemError) in try descriptor.descriptor.requireNotOfReserve() }
        }
        let others = Array(nodes.dropFirst())
        return Kept(node: node, others: others, descriptor: descriptor, isLast: isLast, status: status)
    }

    /// Moves an entry to another name.
    ///
    /// - Parameter mode: RENAME_NOREPLACE, RENAME_EXCHANGE, or neither.
    /// - Throws: `refused` when the zone of either side forbids its part of the move; the host's error.
    public func rename(
        _ name: FileName, in parent: NodeID, to newName: FileName, in newParent: NodeID,
        mode: Descriptor.RenameMode
    ) throws(Fault) {
        try names.writing { () throws(Fault) in
            let source = try self.parent(parent)
            let target = try self.parent(newParent)
            let sourceZone = zone(of: name, in: source)
            let targetZone = zone(of: newName, in: target)
            let refusal =
                mode == .exchanging
                ? SandboxPolicy.refusalOfExchange(
                    SandboxPolicy.Place(zone: sourceZone, directory: source.zone, name: name),
                    SandboxPolicy.Place(zone: targetZone, directory: target.zone, name: newName))
                : SandboxPolicy.refusalOfRename(of: sourceZone, to: newName, in: target.zone, replacing: nil)
            if let refusal { throw .refused(refusal) }
            let sourceDirectory = try directory(source)
            let targetDirectory = try directory(target)
            let moved = try onHost { () throws(SystemError) in try sourceDirectory.descriptor.status(of: name) }
            let replaced = try? targetDirectory.descriptor.status(of: newName)
            if mode != .exchanging, replaced != nil || targetZone == .cacheTag { try permit(.remove, on: targetZone) }
            // Two names of one file: POSIX has nothing happen.
            let isSame = replaced?.inode == moved.inode
            var kept: Kept?
            if mode == .replacing, replaced != nil, !isSame {
                kept = try keepReachable(newName, in: target, targetDirectory)
            }
            try onHost { () throws(SystemError) in
                try sourceDirectory.descriptor.rename(
                    name, to: newName, in: targetDirectory.descriptor, mode: mode)
            }
            if isSame { return }
            if let kept { settle(kept, newName, target) }
            noteMove(moved, to: newName, in: targetDirectory)
            if mode == .exchanging, let replaced { noteMove(replaced, to: name, in: sourceDirectory) }
            place(moved.inode, from: (source, name), at: (target, newName), zone: targetZone)
            if mode == .exchanging, let replaced {
                place(replaced.inode, from: (target, newName), at: (source, name), zone: sourceZone)
            }
        }
    }

    /// Records where a node lies now, and in which zone it and what is below it are.
    private func place(_ inode: UInt64, from old: (Node, FileName), at new: (Node, FileName), zone: Zone) {
        noteGiven(new.1, in: new.0)
        for node in table.nodes(inode: inode) {
            if !node.isDirectory {
                table.addName(new.1, in: new.0, to: node)
                forget(old.1, in: table.removeName(old.1, in: old.0, of: node), ofDirectory: false)
            } else if node.parent === old.0 {
                table.move(node, to: new.0, name: new.1)
            } else {
                follow(node, to: new.1, in: new.0)
            }
            let isOther = node.zone != zone
            node.zone = zone
            moveUse(of: node)
            if isOther, node.isDirectory {
                // Directories change their zone in one way only: what was delivered becomes the app's own.
                table.rezone(below: node, to: .container)
            }
        }
    }
}
