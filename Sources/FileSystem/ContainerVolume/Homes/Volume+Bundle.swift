// The bundle: shown as it was installed, and read only as far as it still is what was verified then.

import BackingStore
import Glibc
import Platform
import SandboxModel

extension Volume {
    /// An entry of a directory in the bundle. The caller holds `names`.
    ///
    /// - Throws: ENOENT for what is not in the list of digests, though the backing copy has it; `corrupt` where the
    ///   backing copy has something else under the name.
    func findSealed(_ name: FileName, _ parent: Node) throws(Fault) -> Entry {
        guard let home = home(of: parent), let directory = parent.rare?.sealed,
            let index = home.bundle.child(name, of: directory)
        else {
            leaveUnkept(name, in: parent)
            throw .system(.noEntry)
        }
        let listed = home.bundle.digests.entries[index]
        let holder = try self.directory(parent)
        let status = try onHost { () throws(SystemError) in try holder.descriptor.status(of: name) }
        let kind: Node.Kind =
            switch listed.content {
            case .directory: .directory
            case .symbolicLink: .symbolicLink
            case .file: .file
            }
        if status.kind == listed.kind {
            let node = table.lookUp(inode: status.inode, kind: kind, zone: .bundle, parent: parent, name: name) {
                node in
                node.withRare { $0.sealed = index }
            }
            if node.rare?.sealed == index {
                leaveUnkept(name, in: parent)
                return Entry(
                    node: node.id, generation: UInt64(node.generation),
                    status: present(status, zone: .bundle, home: home, sealed: index))
            }
            // A further name of another file of the bundle has taken this one's place.
            forget(node.id, count: 1)
        }
        home.bundle.reportForeign(status, to: context)
        throw .corrupt
    }

    /// Whether a directory is in a bundle that an update has replaced. The caller holds `names`.
    func isReplaced(_ directory: Node) -> Bool { home(of: directory)?.isReplaced ?? false }

    /// Has the kernel not keep a name that it is about to be told, absence included, of a bundle that was replaced: the
    /// bundle goes with the last who is in it, and each name in the kernel's cache would keep it.
    private func leaveUnkept(_ name: FileName, in parent: Node) {
        // The kernel obeys when the lookup is over, which holds the directory's lock.
        if isReplaced(parent) { kernelCache?.forgetEntry(name, in: parent.id) }
    }

    /// Where a symbolic link of the bundle led when it was installed; nil for any other node.
    func sealedTarget(of node: Node) -> [UInt8]? {
        guard let index = node.rare?.sealed, let home = home(of: node),
            case .symbolicLink(let target) = home.bundle.digests.entries[index].content
        else { return nil }
        return target
    }

    /// The caller holds `names` and the node's open lock.
    func openSealed(_ node: Node) throws(Fault) -> SealedFile {
        guard let index = node.rare?.sealed, let home = home(of: node) else { throw .system(.stale) }
        let backing = try openBacking(of: node, writing: false).0
        return try SealedFile(backing, index, of: home.bundle, context: context)
    }
}
