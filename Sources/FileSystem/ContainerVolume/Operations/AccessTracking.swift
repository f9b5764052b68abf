// Last use of purgeable entries: opening, creating and closing a file is a use of the entry that the file lies in.
// Looking at it is none.

import BackingStore
import Platform
import SandboxModel

/// An entry of `Library/Caches` or `tmp`, which a purge takes as a whole.
private struct PurgeableUnit {
    let node: Node
    /// The directory that it is an entry of.
    let parent: Node
    let directory: PurgeableDirectory
    let name: FileName

    init(_ node: Node, _ name: FileName, in parent: Node, of directory: PurgeableDirectory) {
        self.node = node
        self.parent = parent
        self.directory = directory
        self.name = name
    }

    /// The unit that a node is or lies in, by one of its names; nil where there is none. The caller holds the table's
    /// lock or `names`.
    init?(around node: Node, _ name: FileName?, in parent: Node?) {
        var (candidate, name) = (node, name)
        var above = parent
        while let directory = above, let own = name {
            guard directory.zone == .container else {
                guard let kind = directory.purgeableDirectory else { return nil }
                self.init(candidate, own, in: directory, of: kind)
                return
            }
            (candidate, name) = (directory, directory.name)
            above = directory.parent
        }
        return nil
    }
}

/// Records when purgeable entries were last used.
///
/// Lock rule: it has no state of its own. Units are found under the table's lock or `names`; the record has a lock of
/// its own, and takes `names` later when it writes a place down.
struct AccessTracking {
    let table: NodeTable
    let uses: UseRecord
    /// The volume's lock of names.
    let names: ReadWriteLock

    /// A file was opened, created or closed.
    func recordUse(of file: Node) {
        guard file.zone == .container else { return }
        let (unit, hasFurther) = table.withNames(of: file) { node in
            (
                PurgeableUnit(around: node, node.name, in: node.parent),
                node.rare.map { !$0.furtherNames.isEmpty } ?? false
            )
        }
        if let unit { record(unit) }
        guard hasFurther else { return }
        for (parent, name) in table.names(of: file).dropFirst() {
            let further = table.withNames(of: file) { PurgeableUnit(around: $0, name, in: parent) }
            if let further { record(further) }
        }
    }

    /// A directory was made. That is a use only if it is a purgeable entry itself.
    func recordCreation(of directory: Node) {
        let unit = table.withNames(of: directory) { PurgeableUnit(around: $0, $0.name, in: $0.parent) }
        if let unit, unit.node === directory { record(unit) }
    }

    /// A node has another place. The caller holds `names` exclusively.
    func recordMove(of node: Node) {
        guard let parent = node.parent, let name = node.name, let directory = parent.purgeableDirectory else { return }
        let unit = PurgeableUnit(node, name, in: parent, of: directory)
        uses.move(node.inode) { place(of: unit) }
    }

    /// A name was removed from a directory. The caller holds `names` exclusively.
    func recordRemoval(of status: FileStatus, in parent: Node) {
        guard status.kind == .directory || status.linkCount <= 1, parent.purgeableDirectory != nil else { return }
        uses.forget(status.inode)
    }

    private func record(_ unit: PurgeableUnit) {
        uses.record(unit.node.inode) { place(of: unit) }
    }

    private func place(of unit: PurgeableUnit) -> UseRecord.Place {
        // Library and tmp are entries of the home, and stay where they are.
        let library = unit.directory == .caches ? unit.parent.parent! : unit.parent
        let container = table.withNames(of: library) { $0.parent!.rare!.home!.data }
        return UseRecord.Place(container: container, directory: unit.directory, name: unit.name, lock: names)
    }

    /// The inodes of the purgeable entries that a node is or lies in: a file with several names may lie in several.
    func purgeableEntries(around node: Node) -> [UInt64] {
        guard node.zone == .container else { return [] }
        return table.withNames(of: node) { node in
            var inodes = PurgeableUnit(around: node, node.name, in: node.parent).map { [$0.node.inode] } ?? []
            for (parent, name) in node.rare?.furtherNames ?? [] {
                if let unit = PurgeableUnit(around: node, name, in: parent) { inodes.append(unit.node.inode) }
            }
            return inodes
        }
    }
}
