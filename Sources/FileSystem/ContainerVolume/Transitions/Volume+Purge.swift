// Purge: entries of Library/Caches and tmp leave a home in one step each, behind the kernel's back.

public import BackingStore
public import Platform
import SandboxModel
import Synchronization

extension Volume {
    /// Takes entries away. Entries that hold an open file stay.
    ///
    /// No call sees a part of an entry: it is whole, or it is not there. The names expire in the kernel, and nothing
    /// waits for that: until then a file that the kernel still knows is `ESTALE`, so that the kernel looks it up again,
    /// and in a directory nothing is found. ``forgetWithdrawn()`` drops what the kernel caches of them.
    ///
    /// - Parameter directory: the container's `Library/Caches` or `tmp`, the directory of all these entries.
    public func withdraw(
        _ entries: [PurgeableEntry], from directory: borrowing Descriptor, into trash: Trash
    ) -> [Withdrawal] {
        var withdrawals: [Withdrawal] = []
        var known: [FileName] = []
        var directories: [Node] = []
        // Several where several homes show a group.
        var parents: [Node] = []
        names.lockForWriting()
        defer {
            names.unlock()
            if let kernelCache {
                // A process in the directory must not see the old listing.
                for node in directories { kernelCache.forgetContent(of: node.id) }
                for parent in parents {
                    for name in known { kernelCache.expireEntry(name, in: parent.id) }
                    kernelCache.forgetContent(of: parent.id)
                    withdrawn.add(known, in: parent)
                }
            }
        }
        parents = (try? directory.status().inode).map { table.nodes(inode: $0) } ?? []
        let open = openEntries
        for entry in entries {
            let withdrawal = Withdrawal(entry, from: directory, into: trash, isOpen: open.contains(entry.inode))
            withdrawals.append(withdrawal)
            guard case .taken = withdrawal else { continue }
            context.uses.forget(entry.inode)
            let nodes = table.nodes(inode: entry.inode)
            if !nodes.isEmpty, !parents.isEmpty { known.append(entry.name) }
            for node in nodes {
                // A directory is a node in each view of the group, a file is one in all.
                guard let parent = node.isDirectory ? parents.first(where: { $0.view === node.view }) : parents.first
                else { continue }
                if node.isDirectory {
                    directories.append(node)
                    places.directories.drop(node)
                    places.directories.dropAll(in: node.scope)
                }
                table.purge(entry.name, in: parent, of: node)
            }
        }
        return withdrawals
    }

    /// Has the kernel drop what it caches of entries that were taken away. Called when their files are removed, because
    /// it takes about as much processor time, and locks a directory meanwhile.
    public func forgetWithdrawn() {
        let gone = withdrawn.takeAll()
        guard let kernelCache else { return }
        for (name, parent) in gone {
            // If a new entry has the name, the kernel has looked it up and dropped the old one; a process may be in it.
            kernelCache.forgetEntry(name, in: parent.id) { [self] in
                names.reading { places.hasEntry(name, in: parent) }
            }
        }
    }

    /// The inodes of purgeable entries that are or hold open files. The caller holds `names` exclusively, so that no
    /// file is opened meanwhile.
    private var openEntries: Set<UInt64> {
        var entries: Set<UInt64> = []
        for inode in openFiles.openInodes {
            entries.insert(inode)
            if let node = table.known(inode: inode) { entries.formUnion(access.purgeableEntries(around: node)) }
        }
        return entries
    }
}
