// Which purgeable entry a call uses: opening, creating and closing a file is a use of the entry that it lies in; looking
// is none.

import BackingStore
import Platform
import SandboxModel

extension Volume {
    /// An entry of `Library/Caches` or `tmp`.
    private struct Unit {
        let node: Node
        /// The directory that it is an entry of.
        let parent: Node
        let directory: PurgeableDirectory
        let name: FileName
    }

    /// Which of the two a directory is, if it is one. The caller holds the table's lock or `names`.
    static func purgeableDirectory(_ node: Node) -> PurgeableDirectory? {
        guard node.zone == .standardDirectory, let above = node.parent else { return nil }
        if above.kind == .home { return node.name == Home.temporary ? .temporary : nil }
        return node.name == Home.caches && above.name == Home.library && above.parent?.kind == .home ? .caches : nil
    }

    /// The entry that a node is or lies in, by one of its names. The caller holds the table's lock or `names`.
    private static func unit(_ node: Node, _ name: FileName?, in parent: Node?) -> Unit? {
        var (candidate, name) = (node, name)
        var above = parent
        while let directory = above, let own = name {
            guard directory.zone == .container else {
                return purgeableDirectory(directory).map {
                    Unit(node: candidate, parent: directory, directory: $0, name: own)
                }
            }
            (candidate, name) = (directory, directory.name)
            above = directory.parent
        }
        return nil
    }

    /// The inode of the purgeable entry that a file or directory is or lies in. One with several names may lie in
    /// several.
    func purgeableEntries(around node: Node) -> [UInt64] {
        guard node.zone == .container else { return [] }
        return table.withNames(of: node) { node in
            var inodes = Volume.unit(node, node.name, in: node.parent).map { [$0.node.inode] } ?? []
            for (parent, name) in node.rare?.furtherNames ?? [] {
                if let unit = Volume.unit(node, name, in: parent) { inodes.append(unit.node.inode) }
            }
            return inodes
        }
    }

    // MARK: Noting

    /// A file was opened, created or closed.
    func noteUse(of file: Node) {
        guard file.zone == .container else { return }
        let (unit, hasFurther) = table.withNames(of: file) { node in
            (Volume.unit(node, node.name, in: node.parent), node.rare.map { !$0.furtherNames.isEmpty } ?? false)
        }
        if let unit { note(unit) }
        guard hasFurther else { return }
        for (parent, name) in table.names(of: file).dropFirst() {
            if let unit = table.withNames(of: file, { Volume.unit($0, name, in: parent) }) { note(unit) }
        }
    }

    /// A directory was made, which is a use only if it is a purgeable entry itself.
    func noteMaking(of directory: Node) {
        let unit = table.withNames(of: directory) { Volume.unit($0, $0.name, in: $0.parent) }
        if let unit, unit.node === directory { note(unit) }
    }

    private func note(_ unit: Unit) {
        context.uses.note(unit.node.inode) { place(of: unit) }
    }

    private func place(of unit: Unit) -> UseRecord.Place {
        // Library and tmp are entries of the home, and stay where they are.
        let library = unit.directory == .caches ? unit.parent.parent! : unit.parent
        let container = table.withNames(of: library) { $0.parent!.rare!.home!.data }
        return UseRecord.Place(container: container, directory: unit.directory, name: unit.name, lock: names)
    }

    /// An entry has another place. The caller holds `names` exclusively.
    func moveUse(of node: Node) {
        guard let parent = node.parent, let name = node.name, let directory = Volume.purgeableDirectory(parent)
        else { return }
        let unit = Unit(node: node, parent: parent, directory: directory, name: name)
        context.uses.move(node.inode) { place(of: unit) }
    }

    /// An entry was removed. The caller holds `names` exclusively.
    func forgetUse(of status: FileStatus, in parent: Node) {
        guard status.kind == .directory || status.linkCount <= 1, Volume.purgeableDirectory(parent) != nil
        else { return }
        context.uses.forget(status.inode)
    }
}
