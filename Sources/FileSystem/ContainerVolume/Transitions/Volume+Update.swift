// Update of an app while its home is shown: a new bundle, a new `tmp` and new metadata under the same names, all else
// as before. Files that are open in the old ones go on working.

import BackingStore
public import Glibc
import Platform
public import SandboxModel
import Synchronization

extension Volume {
    /// The directories that an update has taken out of a home, as far as the kernel knows them.
    public struct Replaced: Sendable {
        fileprivate var bundle: Node?
        fileprivate var temporary: Node?
    }

    /// The entries of the data container that an update exchanges.
    private static let exchanged = [HomeLayout.temporary, HomeLayout.metadata]

    /// Shows an app's home after an update, even a hidden home in which a file is still open.
    ///
    /// - Parameter exchange: puts the new `tmp` and metadata into their places. No name is looked up meanwhile.
    /// - Returns: the directories that are not in the home any more. They work as before until ``release(_:)``.
    public func update(
        _ update: HomeUpdate, _ exchange: () throws(SystemError) -> Void
    ) throws(SystemError) -> Replaced {
        var changed: (home: Node, names: Set<FileName>)?
        defer {
            if let changed, let kernelCache {
                for name in changed.names { kernelCache.forgetEntry(name, in: changed.home.id) }
            }
        }
        return try names.writing { () throws(SystemError) in
            guard let node = homes.node(of: update.data), let old = table.withNames(of: node, { $0.ownHome }) else {
                try exchange()
                homes.apply(update)
                return Replaced()
            }
            changed = (
                node,
                Set(Volume.exchanged + [old.bundleName, update.bundleName, HomeLayout.groups, HomeLayout.iCloud])
            )
            let directory = update.data
            let before = Volume.exchanged.map { ($0, try? RemovedName($0, in: node, directory, of: openFiles)) }
            var failure: SystemError?
            do throws(SystemError) {
                try exchange()
            } catch {
                failure = error
            }
            var replaced = Replaced()
            for case (let name, let removed?) in before {
                // An exchange that failed may be half done.
                guard (try? directory.descriptor.status(of: name).inode) != removed.status.inode else { continue }
                if let node = removed.node, node.isDirectory {
                    places.directories.drop(node)
                    replaced.temporary = node
                }
                removed.removeName(name, in: node, from: table)
            }
            if let failure { throw failure }
            homes.apply(update)
            replaced.bundle = setApart(old, node)
            homes.set(old.updated(update), of: node)
            return replaced
        }
    }

    /// Takes the old bundle out of the home. It stays as it was for processes that are in it or have files of it open.
    private func setApart(_ old: Home, _ home: Node) -> Node? {
        guard let inode = try? old.bundle.root.descriptor.status().inode,
            let bundle = table.nodes(inode: inode).first(where: { table.isOnlyName(old.bundleName, in: home, of: $0) })
        else { return nil }
        // Nodes below the bundle find its owner and its digests here.
        var last = old
        last.isReplaced = true
        homes.set(last, of: bundle)
        table.removeName(old.bundleName, in: home, of: bundle)
        return bundle
    }

    /// Releases the directories that an update has replaced. Called when the kernel has forgotten the names that nobody
    /// uses, and before the old `tmp` is removed from the host; ``recordRemoval(ofInode:)`` is called for each of its
    /// files.
    public func release(_ replaced: Replaced) {
        for directory in [replaced.bundle, replaced.temporary] {
            if let directory { forgetNames(below: directory) }
        }
        if let temporary = replaced.temporary { remove(all: temporary) }
    }

    /// Whether a call that makes an entry in a replaced directory must look its path up again.
    ///
    /// The call may have passed `tmp` a moment before the update. Sent back with ESTALE, it finds the new directory. If
    /// it did not come by a path, it comes here a second time, and is not sent back again.
    /// - Parameter thread: the calling thread.
    public func sendsBack(_ thread: pid_t, from directory: NodeID) -> Bool {
        guard let node = table.node(directory) else { return false }
        return table.withNames(of: node) { node in
            guard let rare = node.rare, rare.isRemoved, rare.sentBack.remove(thread) == nil else { return false }
            rare.sentBack.insert(thread)
            return true
        }
    }

    /// Has the kernel forget the names below a directory that it kept because their nodes are in use.
    private func forgetNames(below directory: Node) {
        guard let kernelCache else { return }
        for (_, names) in table.nodes(named: directory) {
            for (parent, name) in names { kernelCache.forgetEntry(name, in: parent.id) }
        }
    }

    /// Gives all known nodes below a directory the state of removed files: open descriptors work, and nothing is found
    /// or made there any more.
    private func remove(all removed: Node) {
        names.writing {
            let nodes = table.nodes(named: removed)
            // The kernel's FORGET of unused nodes may still be under way: do not spend every descriptor on them.
            var allowance = OpenFileLimit.current / 4
            var orphans: [ObjectIdentifier: (node: SharedDescriptor, status: FileStatus)] = [:]
            // Directories first: a process in one has no other way to reach it.
            for (node, _) in nodes.sorted(by: { $0.node.isDirectory && !$1.node.isDirectory }) where allowance > 0 {
                guard let place = try? places.place(of: node), case .entry(let directory, let name) = place,
                    let descriptor = try? directory.descriptor.openNode(name), let status = try? descriptor.status()
                else { continue }
                orphans[ObjectIdentifier(node)] = (SharedDescriptor(descriptor), status)
                allowance -= 1
            }
            for (node, names) in nodes {
                let orphan = orphans[ObjectIdentifier(node)]
                for (parent, name) in names { table.removeName(name, in: parent, of: node) }
                if let orphan, node.parent == nil {
                    node.withRare { rare in
                        rare.orphan = orphan.node
                        rare.lastStatus = orphan.status
                    }
                }
                // The host may give the inode number to another file, which must get another node.
                if orphan == nil, node.parent == nil, node.open == nil { table.renew(node) }
            }
            for directory in nodes.map(\.node) + [removed] where directory.isDirectory {
                places.directories.drop(directory)
                directory.withRare { $0.isRemoved = true }
            }
        }
    }

    /// Records that a file of the old `tmp` has lost its last name.
    /// - Returns: whether it is open, so that its space is released when it is closed. Otherwise it can be opened only
    ///   by a descriptor that names it, and the caller counts its space as released.
    public func recordRemoval(ofInode inode: UInt64) -> Bool {
        table.known(inode: inode).map { openFiles.recordRemoval(of: $0) } ?? false
    }
}
