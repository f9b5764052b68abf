// unlink, rmdir and rename. These hold `names` exclusively, because nodes lose or change their place.

import BackingStore
public import Platform
public import SandboxModel
import SandboxPolicy

extension Volume {
    /// Removes a name of a file. Open descriptors stay open.
    /// - Throws: `refused` by the zone of the entry; the host's error.
    public func removeFile(_ name: FileName, in parent: NodeID) throws(Fault) {
        try remove(name, in: parent) { (directory) throws(SystemError) in try directory.descriptor.removeFile(name) }
    }

    /// Removes an empty directory.
    /// - Throws: `refused` by the zone of the entry; the host's error.
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
            try parent.zone(of: name).permit(.remove)
            let directory = try places.directory(parent)
            let removed = try RemovedName(name, in: parent, directory, of: openFiles)
            try onHost { () throws(SystemError) in try call(directory) }
            release(removed, name, in: parent)
        }
    }

    /// Takes a name from its node, after the host has removed the entry.
    private func release(_ removed: RemovedName, _ name: FileName, in parent: Node) {
        if let node = removed.node, node.isDirectory { places.directories.drop(node) }
        for other in removed.others { places.directories.drop(other) }
        let elsewhere = removed.removeName(name, in: parent, from: table)
        forget(name, in: elsewhere, ofDirectory: removed.status.kind == .directory)
        accounting.recordRemoval(removed)
        access.recordRemoval(of: removed.status, in: parent)
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
            let sourceZone = source.zone(of: name)
            let targetZone = target.zone(of: newName)
            let refusal =
                mode == .exchanging
                ? SandboxPolicy.refusalOfExchange(
                    SandboxPolicy.Place(zone: sourceZone, directory: source.zone, name: name),
                    SandboxPolicy.Place(zone: targetZone, directory: target.zone, name: newName))
                : SandboxPolicy.refusalOfRename(of: sourceZone, to: newName, in: target.zone, replacing: nil)
            if let refusal { throw .refused(refusal) }
            let sourceDirectory = try places.directory(source)
            let targetDirectory = try places.directory(target)
            let moved = try onHost { () throws(SystemError) in try sourceDirectory.descriptor.status(of: name) }
            let replaced = try? targetDirectory.descriptor.status(of: newName)
            if mode != .exchanging, replaced != nil || targetZone == .cacheTag { try targetZone.permit(.remove) }
            // rename(2): two names of one file stay as they are.
            let isSame = replaced?.inode == moved.inode
            var removed: RemovedName?
            if mode == .replacing, replaced != nil, !isSame {
                removed = try RemovedName(newName, in: target, targetDirectory, of: openFiles)
            }
            try onHost { () throws(SystemError) in
                try sourceDirectory.descriptor.rename(
                    name, to: newName, in: targetDirectory.descriptor, mode: mode)
            }
            if isSame { return }
            if let removed { release(removed, newName, in: target) }
            accounting.recordMove(moved, to: newName, in: targetDirectory)
            if mode == .exchanging, let replaced { accounting.recordMove(replaced, to: name, in: sourceDirectory) }
            recordPlace(of: moved.inode, from: (source, name), at: (target, newName), zone: targetZone)
            if mode == .exchanging, let replaced {
                recordPlace(of: replaced.inode, from: (target, newName), at: (source, name), zone: sourceZone)
            }
        }
    }

    /// Records the new place of a node, and the zones of the node and of all below it.
    private func recordPlace(of inode: UInt64, from old: (Node, FileName), at new: (Node, FileName), zone: Zone) {
        recordName(new.1, in: new.0)
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
            access.recordMove(of: node)
            if isOther, node.isDirectory {
                // A directory changes its zone only when it leaves the Inbox and becomes the app's own.
                table.rezone(below: node, to: .container)
            }
        }
    }
}
