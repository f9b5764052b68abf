// The bundle: shown as it was installed, and read only where it is still what was verified then.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// Finds the entries of an app's bundle by its list of digests.
///
/// Lock rule: it has no state of its own. The caller holds `names`.
struct BundleEntries {
    let places: NodePlaces
    let context: StoreContext
    let kernel: KernelCacheReference

    /// Looks up an entry of a directory in the bundle. The caller holds `names`.
    ///
    /// - Throws: ENOENT for an entry that is not in the list of digests, though the backing copy may have it; `corrupt`
    ///   where the backing copy has another kind of file under the name.
    func find(_ name: FileName, in parent: Node) throws(Fault) -> Entry {
        guard let home = parent.home, let directory = parent.rare?.sealed,
            let index = home.bundle.child(name, of: directory)
        else {
            dropFromKernel(name, in: parent)
            throw .system(.noEntry)
        }
        let listed = home.bundle.digests.entries[index]
        let holder = try places.directory(parent)
        let status = try onHost { () throws(SystemError) in try holder.descriptor.status(of: name) }
        let kind: Node.Kind =
            switch listed.content {
            case .directory: .directory
            case .symbolicLink: .symbolicLink
            case .file: .file
            }
        if status.kind == listed.kind {
            let node = places.table.lookUp(
                FoundEntry(inode: status.inode, kind: kind, zone: .bundle, parent: parent, name: name)
            ) {
                node in
                node.withRare { $0.sealed = index }
            }
            if node.rare?.sealed == index {
                dropFromKernel(name, in: parent)
                return Entry(
                    node: node.id, generation: UInt64(node.generation),
                    status: status.presented(zone: .bundle, home: home, sealed: index))
            }
            // The name is a hard link to another file of the bundle.
            _ = places.table.forget(node.id, count: 1)
        }
        home.bundle.reportForeign(status, to: context)
        throw .corrupt
    }

    /// Has the kernel drop the name that this lookup is about to answer, absence included, if the bundle was replaced.
    /// The bundle is removed when its last node is forgotten, and each cached name would keep it.
    private func dropFromKernel(_ name: FileName, in parent: Node) {
        // The kernel obeys after the lookup, which holds the directory's lock.
        if parent.isInReplacedBundle { kernel.current?.forgetEntry(name, in: parent.id) }
    }
}
