// unlink, rmdir and rename. A file loses or changes its name under the locks of the entries concerned, and calls on
// other names go on. A directory does so under `names`, held exclusively: everything below it loses or changes its
// place.

import BackingStore
public import Platform
public import SandboxModel
import SandboxPolicy

extension Volume {
    /// Removes a name of a file. Open descriptors stay open.
    /// - Throws: `refused` by the zone of the entry; the host's error.
    public func removeFile(_ name: FileName, in parent: NodeID) throws(Fault) {
        try names.reading { () throws(Fault) in
            let parent = try self.parent(parent)
            try parent.zone(of: name).permit(.remove)
            let directory = try places.directory(parent)
            try entryLocks.changingEntries(of: parent) { () throws(Fault) in
                let named = try NamedNode(name, in: directory, of: openFiles)
                try entryLocks.changingPlace(of: named.status.inode) { () throws(Fault) in
                    let removed = try RemovedName(named.renewed(in: openFiles), name, in: parent, of: openFiles)
                    try onHost { () throws(SystemError) in try directory.descriptor.removeFile(name) }
                    release(removed, name, in: parent)
                }
            }
        }
    }

    /// Removes an empty directory.
    /// - Throws: `refused` by the zone of the entry; the host's error.
    public func removeDirectory(_ name: FileName, in parent: NodeID) throws(Fault) {
        try names.writing { () throws(Fault) in
            let parent = try self.parent(parent)
            try parent.zone(of: name).permit(.remove)
            let directory = try places.directory(parent)
            let removed = try RemovedName(name, in: parent, directory, of: openFiles)
            try onHost { () throws(SystemError) in try directory.descriptor.removeDirectory(name) }
            release(removed, name, in: parent)
        }
    }

    /// Takes a name from its node, after the host has removed the entry.
    func release(_ removed: RemovedName, _ name: FileName, in parent: Node) {
        // A file is made elsewhere meanwhile: the descriptor keeps the host from giving it the number of this one until
        // nothing is recorded of this one any more.
        withExtendedLifetime(removed) {
            if let node = removed.node, node.isDirectory { places.directories.drop(node) }
            for other in removed.others { places.directories.drop(other) }
            openFiles.recordChange()
            let elsewhere = removed.removeName(name, in: parent, from: table)
            forget(name, in: elsewhere, ofDirectory: removed.status.kind == .directory)
            accounting.recordRemoval(removed)
            access.recordRemoval(of: removed.status, in: parent)
        }
    }

    /// Moves an entry to another name.
    ///
    /// - Parameter mode: RENAME_NOREPLACE, RENAME_EXCHANGE, or neither.
    /// - Throws: `refused` when the zone of either side forbids its part of the move; the host's error.
    public func rename(
        _ name: FileName, in parent: NodeID, to newName: FileName, in newParent: NodeID,
        mode: Descriptor.RenameMode
    ) throws(Fault) {
        let isDone = try names.reading { () throws(Fault) in
            try renameFile(Move(name, in: try self.parent(parent), to: newName, in: try self.parent(newParent), mode))
        }
        if isDone { return }
        try names.writing { () throws(Fault) in
            let move = try Move(name, in: try self.parent(parent), to: newName, in: try self.parent(newParent), mode)
            let ends = try Ends(of: move, places)
            try carryOut(move, try Found(move, ends), ends)
        }
    }

    /// The arguments of a rename.
    private struct Move {
        let mode: Descriptor.RenameMode
        let name: FileName
        let source: Node
        let sourceZone: Zone
        let newName: FileName
        let target: Node
        let targetZone: Zone

        /// Asks the rules, before anything tells a directory from a file.
        init(
            _ name: FileName, in source: Node, to newName: FileName, in target: Node, _ mode: Descriptor.RenameMode
        ) throws(Fault) {
            self.mode = mode
            self.name = name
            self.source = source
            self.newName = newName
            self.target = target
            sourceZone = source.zone(of: name)
            targetZone = target.zone(of: newName)
            let refusal =
                mode == .exchanging
                ? SandboxPolicy.refusalOfExchange(
                    SandboxPolicy.Place(zone: sourceZone, directory: source.zone, name: name),
                    SandboxPolicy.Place(zone: targetZone, directory: target.zone, name: newName))
                : SandboxPolicy.refusalOfRename(of: sourceZone, to: newName, in: target.zone, replacing: nil)
                    ?? SandboxPolicy.refusal(of: .renameInto, naming: targetZone)
            if let refusal { throw .refused(refusal) }
        }
    }

    /// The two directories of a rename on the host.
    private struct Ends {
        let source: SharedDescriptor
        let target: SharedDescriptor

        init(of move: Move, _ places: NodePlaces) throws(Fault) {
            source = try places.directory(move.source)
            target = try places.directory(move.target)
        }
    }

    /// The entries that have the two names of a rename. The caller holds the locks of both directories' entries, or
    /// `names` exclusively.
    private struct Found {
        let moved: FileStatus
        let replaced: FileStatus?

        init(_ move: Move, _ ends: Ends) throws(Fault) {
            moved = try onHost { () throws(SystemError) in try ends.source.descriptor.status(of: move.name) }
            replaced = try? ends.target.descriptor.status(of: move.newName)
        }

        var hasDirectory: Bool { moved.kind == .directory || replaced?.kind == .directory }
    }

    /// Moves a file within one zone, so that neither another node nor a rule of it changes. The caller holds `names`
    /// shared.
    /// - Returns: false for any other rename, which has changed nothing.
    private func renameFile(_ move: Move) throws(Fault) -> Bool {
        guard move.sourceZone == move.targetZone else { return false }
        let ends = try Ends(of: move, places)
        return try entryLocks.changingEntries(of: move.source, and: move.target) { () throws(Fault) in
            let found = try Found(move, ends)
            if found.hasDirectory { return false }
            let inodes = (found.moved.inode, found.replaced?.inode ?? found.moved.inode)
            return try entryLocks.changingPlaces(of: inodes.0, and: inodes.1) { () throws(Fault) in
                // A file with another name in another zone may have the rules of that one.
                guard isOf(move.targetZone, inodes.0), isOf(move.sourceZone, inodes.1) else { return false }
                try carryOut(move, found, ends)
                return true
            }
        }
    }

    /// Whether the node of an inode, if it is known, has the rules of a zone.
    private func isOf(_ zone: Zone, _ inode: UInt64) -> Bool { (table.known(inode: inode)?.zone ?? zone) == zone }

    /// The caller holds the locks of the entries and of the files concerned, or `names` exclusively.
    private func carryOut(_ move: Move, _ found: Found, _ ends: Ends) throws(Fault) {
        if move.mode != .exchanging, found.replaced != nil || move.targetZone == .cacheTag {
            try move.targetZone.permit(.remove)
        }
        // rename(2): two names of one file stay as they are.
        let isSame = found.replaced?.inode == found.moved.inode
        var removed: RemovedName?
        if move.mode == .replacing, found.replaced != nil, !isSame {
            removed = try RemovedName(move.newName, in: move.target, ends.target, of: openFiles)
        }
        try onHost { () throws(SystemError) in
            try ends.source.descriptor.rename(
                move.name, to: move.newName, in: ends.target.descriptor, mode: move.mode)
        }
        if isSame { return }
        if let removed { release(removed, move.newName, in: move.target) }
        let (old, new) = ((move.source, move.name), (move.target, move.newName))
        accounting.recordMove(found.moved, to: move.newName, in: ends.target)
        recordPlace(of: found.moved.inode, from: old, at: new, zone: move.targetZone)
        if move.mode == .exchanging, let replaced = found.replaced {
            accounting.recordMove(replaced, to: move.name, in: ends.source)
            recordPlace(of: replaced.inode, from: new, at: old, zone: move.sourceZone)
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
            if isOther { node.zone = zone }
            access.recordMove(of: node)
            if isOther, node.isDirectory {
                // A directory changes its zone only when it leaves the Inbox and becomes the app's own.
                table.rezone(below: node, to: .container)
            }
        }
    }
}
