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
    /// lock.
    init?(around node: Node, _ name: FileName?, in parent: Node?) {
        guard let directory = parent, let name else { return nil }
        if let kind = directory.purgeableDirectory {
            self.init(node, name, in: directory, of: kind)
            return
        }
        guard let entry = directory.scope?.purgeableEntry, let name = entry.name, let above = entry.parent,
            let kind = above.purgeableDirectory
        else { return nil }
        self.init(entry, name, in: above, of: kind)
    }

    /// The units that a node is or lies in: a file with several names may lie in several.
    static func all(around node: Node) -> [PurgeableUnit] {
        let first = PurgeableUnit(around: node, node.name, in: node.parent)
        guard let further = node.rare?.furtherNames, !further.isEmpty else { return first.map { [$0] } ?? [] }
        var units = first.map { [ObjectIdentifier($0.node): $0] } ?? [:]
        for (directory, name) in further.inEachDirectory {
            guard let unit = PurgeableUnit(around: node, name, in: directory) else { continue }
            if units[ObjectIdentifier(unit.node)] == nil { units[ObjectIdentifier(unit.node)] = unit }
        }
        return Array(units.values)
    }
}

/// Records when purgeable entries were last used.
///
/// Lock rule: it has no state of its own. Units are found under the table's lock; the record has a lock of its own, and
/// takes `names` later when it writes a place down.
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
        guard hasFurther else {
            if let unit { record(unit) }
            return
        }
        for unit in table.withNames(of: file, { PurgeableUnit.all(around: $0) }) { record(unit) }
    }

    /// A directory was made. That is a use only if it is a purgeable entry itself.
    func recordCreation(of directory: Node) {
        let unit = table.withNames(of: directory) { PurgeableUnit(around: $0, $0.name, in: $0.parent) }
        if let unit, unit.node === directory { record(unit) }
    }

    /// A node has another place. The caller holds the lock of a file's place exclusively, or `names`.
    func recordMove(of node: Node) {
        guard let parent = node.parent, let name = node.name, let directory = parent.purgeableDirectory else { return }
        let unit = PurgeableUnit(node, name, in: parent, of: directory)
        uses.move(node.inode) { place(of: unit) }
    }

    /// A name was removed from a directory. The caller holds the lock of a file's place exclusively, or `names`.
    func recordRemoval(of status: FileStatus, in parent: Node) {
        guard status.kind == .directory || status.linkCount <= 1, parent.purgeableDirectory != nil else { return }
        uses.forget(status.inode)
    }

    private func record(_ unit: PurgeableUnit) {
        uses.record(unit.node.inode) { place(of: unit) }
    }

    /// - Returns: nil where the unit has left the home since it was found: a close waits for no update.
    private func place(of unit: PurgeableUnit) -> UseRecord.Place? {
        table.withNames(of: unit.parent) { $0.purgeableContainer }.map {
            UseRecord.Place(container: $0, directory: unit.directory, name: unit.name, lock: names)
        }
    }

    /// The inodes of the purgeable entries that a node is or lies in: a file with several names may lie in several.
    func purgeableEntries(around node: Node) -> [UInt64] {
        guard node.zone == .container else { return [] }
        return table.withNames(of: node) { node in PurgeableUnit.all(around: node).map(\.node.inode) }
    }
}
