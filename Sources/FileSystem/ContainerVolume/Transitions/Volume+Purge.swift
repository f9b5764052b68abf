// Purging: entries of Library/Caches and tmp that leave an app's home in one step each, behind the kernel's back.

public import BackingStore
public import Platform
import SandboxModel
import Synchronization

extension Volume {
    /// Takes entries away, of which those that hold an open file stay.
    ///
    /// No call sees a part of an entry: it is whole, or it is not there. The kernel is told to ask for the names again,
    /// and nobody here waits until it has heard: until then a file that it still knows is `ESTALE`, whereupon it asks,
    /// and in a directory nothing is found. What it caches of them goes with ``forgetWithdrawn()``.
    ///
    /// - Parameter directory: the container's `Library/Caches` or `tmp`, which all of them are entries of.
    public func withdraw(
        _ entries: [PurgeableEntry], from directory: borrowing Descriptor, into trash: Trash
    ) -> [Withdrawal] {
        var withdrawals: [Withdrawal] = []
        var known: [(name: FileName, node: Node)] = []
        var parent: Node?
        names.lockForWriting()
        defer {
            names.unlock()
            if let parent, let kernelCache {
                for (name, node) in known {
                    kernelCache.expireEntry(name, in: parent.id)
                    // Whoever is in the directory is not to go on seeing what was listed there.
                    if node.isDirectory { kernelCache.forgetContent(of: node.id) }
                }
                kernelCache.forgetContent(of: parent.id)
                withdrawn.add(known.map(\.name), in: parent)
            }
        }
        parent = (try? directory.status().inode).flatMap { table.known(inode: $0) }
        let open = openEntries
        for entry in entries {
            let withdrawal = Withdrawal(entry, from: directory, into: trash, isOpen: open.contains(entry.inode))
            withdrawals.append(withdrawal)
            guard case .taken = withdrawal else { continue }
            context.uses.forget(entry.inode)
            guard let parent, let node = table.nodes(inode: entry.inode).first(where: { $0.view === parent.view })
            else { continue }
            known.append((entry.name, node))
            if node.isDirectory {
                places.directories.drop(node)
                places.directories.dropAll(below: node)
            }
            table.purge(entry.name, in: parent, of: node)
        }
        return withdrawals
    }

    /// Has the kernel let go of what it caches of entries that were taken away. To be called when they are removed: it
    /// takes processors as long again, and a directory is locked meanwhile.
    public func forgetWithdrawn() {
        let gone = withdrawn.takeAll()
        guard let kernelCache else { return }
        for (name, parent) in gone {
            // Where something else has the name, the kernel has asked, and let go; and somebody may be in that.
            kernelCache.forgetEntry(name, in: parent.id) { [self] in
                names.reading { places.hasEntry(name, in: parent) }
            }
        }
    }

    /// The purgeable entries that are or hold files which are open. The caller holds `names` exclusively, so that no
    /// other file comes to be.
    private var openEntries: Set<UInt64> {
        var entries: Set<UInt64> = []
        for inode in openFiles.openInodes {
            entries.insert(inode)
            if let node = table.known(inode: inode) { entries.formUnion(access.purgeableEntries(around: node)) }
        }
        return entries
    }
}
