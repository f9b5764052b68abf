// An app that is updated while its home is shown: another bundle, another `tmp` and other metadata under the same names,
// everything else as it was. What is open in what was replaced goes on working.

import BackingStore
public import Glibc
import Platform
public import SandboxModel
import Synchronization

extension Volume {
    /// What an update has taken out of a home and the kernel knows.
    public struct Replaced: Sendable {
        fileprivate var bundle: Node?
        fileprivate var temporary: Node?
    }

    /// What an update exchanges in the data container.
    private static let exchanged = [Home.temporary, Home.metadata]

    /// Shows an app's home as an update leaves it, also one that is hidden and in which something is still open.
    ///
    /// - Parameter exchange: puts the new `tmp` and metadata into their places. No name is looked up meanwhile.
    /// - Returns: what is not in the home any more. It is as it was until ``release(_:)``.
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
            guard let node = homes.node(of: update.data), let old = table.withNames(of: node, { $0.rare?.home }) else {
                try exchange()
                homes.apply(update)
                return Replaced()
            }
            changed = (
                node,
                Set(Volume.exchanged + [old.bundleName, update.bundleName, Home.groupsDirectory, Home.iCloudDirectory])
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
                // An exchange that failed may have been made in part.
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

    /// Takes the old bundle out of the home: as long as somebody is in it or has something of it open, it is what it was.
    private func setApart(_ old: Home, _ home: Node) -> Node? {
        guard let inode = try? old.bundle.root.descriptor.status().inode, let bundle = table.known(inode: inode),
            table.isOnlyName(old.bundleName, in: home, of: bundle)
        else { return nil }
        // What lies below it finds its owner, and what was verified of it, here.
        var last = old
        last.isReplaced = true
        homes.set(last, of: bundle)
        table.removeName(old.bundleName, in: home, of: bundle)
        return bundle
    }

    /// Settles what becomes of what is still in use of what was replaced. Called once the kernel has forgotten the rest,
    /// and before the host's old `tmp` is removed, of which ``recordRemoval(ofInode:)`` is then called for each file.
    public func release(_ replaced: Replaced) {
        for directory in [replaced.bundle, replaced.temporary] {
            if let directory { forgetNames(below: directory) }
        }
        if let temporary = replaced.temporary { remove(all: temporary) }
    }

    /// Whether a call that is to make something in a directory which an update has dropped begins its path anew.
    ///
    /// It may have come through `tmp` a moment before the update, and the kernel has nobody look twice for a directory that
    /// it knows. Sent back it finds the new one, unless it did not come by a path from above: then it is here once more.
    /// - Parameter thread: who calls.
    public func sendsBack(_ thread: pid_t, from directory: NodeID) -> Bool {
        guard let node = table.node(directory) else { return false }
        return table.withNames(of: node) { node in
            guard let rare = node.rare, rare.isRemoved, rare.sentBack.remove(thread) == nil else { return false }
            rare.sentBack.insert(thread)
            return true
        }
    }

    /// Has the kernel forget the names that it keeps for those who use what they name.
    private func forgetNames(below directory: Node) {
        guard let kernelCache else { return }
        for (_, names) in table.nodes(named: directory) {
            for (parent, name) in names { kernelCache.forgetEntry(name, in: parent.id) }
        }
    }

    /// Makes all that is known of a directory what removed files are: descriptors that are open work, and nothing is
    /// found in it or made in it any more.
    private func remove(all removed: Node) {
        names.writing {
            let nodes = table.nodes(named: removed)
            // The kernel may not have said yet what it has forgotten: not every descriptor goes to what nobody needs.
            var allowance = ProcessSettings.openFileLimit / 4
            var orphans: [ObjectIdentifier: (node: SharedDescriptor, status: FileStatus)] = [:]
            // Directories first: somebody may be in one, and has no other way to it.
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
                // The host may give its inode number to another file, which this node must not be taken for.
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
