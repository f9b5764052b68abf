// fsync of names: a file survives a power cut when its names do, up to the container's root.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// Makes the entries of directories durable.
///
/// Lock rule: it has no state of its own; each directory's node counts its names (``GivenNames``). The caller of each
/// method holds `names`, and keeps the place of a file.
struct NameDurability {
    let places: NodePlaces
    /// The device's directory, for a sync of the whole host filesystem.
    let device: SharedDescriptor

    /// Makes the entries of one directory durable.
    func synchronizeEntries(of node: Node) throws(Fault) {
        // After a power cut nothing of it can be found anyway.
        if node.rare?.isRemoved == true { return }
        let given = node.givenNames.count
        let directory = try places.directory(node)
        try onHost { () throws(SystemError) in
            do throws(SystemError) {
                try directory.descriptor.reopen(flags: O_RDONLY | O_DIRECTORY).synchronize()
            } catch {
                // The owner may not list the directory, so it cannot be opened: synchronize the whole filesystem.
                guard error == .accessDenied else { throw error }
                try device.descriptor.synchronizeFilesystem()
            }
        }
        node.givenNames.areDurable(upTo: given)
    }

    /// Makes the names durable by which a node is found, as far as they are newer than their directory's last fsync.
    func makeNamesDurable(of node: Node) throws(Fault) {
        var pending = places.table.parents(of: node)
        let isLinked = pending.count > 1
        var passed: Set<ObjectIdentifier> = []
        while let parent = pending.popLast() {
            // Several names of a file may lie below the same directories.
            if isLinked, !passed.insert(ObjectIdentifier(parent)).inserted { continue }
            let isOnHost = parent.kind == .directory || parent.rare?.anchor != nil
            if isOnHost, !parent.givenNames.areDurable { try synchronizeEntries(of: parent) }
            pending += places.table.parents(of: parent)
        }
    }
}
