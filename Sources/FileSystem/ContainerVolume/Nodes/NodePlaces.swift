// From a node to the host: the directory and name, or the descriptor, by which a system call reaches it.

import BackingStore
import Platform
import SandboxModel

/// Resolves nodes to places on the host.
///
/// Lock rule: the caller of each method holds the volume's `names`, so that no directory moves until the place was
/// used, and for a file's place that place's lock too (``EntryLocks``), unless it holds `names` exclusively. Below it
/// these methods take the locks of the table and of the directory cache, one at a time.
final class NodePlaces: Sendable {
    let table: NodeTable
    let epochs = RestartEpochs()
    let credentials: DaemonCredentials
    let directories = DirectoryCache()

    init(table: NodeTable, credentials: DaemonCredentials) {
        self.table = table
        self.credentials = credentials
    }

    /// - Throws: ESTALE for a file of an earlier epoch or without a known name, so that the kernel looks it up again;
    ///   ENOENT for a directory without a name.
    func place(of node: Node) throws(Fault) -> Place {
        // Another file may have the name by now.
        if epochs.isPast(node) { throw .system(.stale) }
        if node.hasEntryOnHost, let (parent, name) = table.location(of: node) {
            if !credentials.isSuperuser, let reached = reachableName(of: node) { return reached }
            return .entry(try directory(parent), name)
        }
        return try anchor(of: node)
    }

    /// The place of a node that is not reached by a name.
    private func anchor(of node: Node) throws(Fault) -> Place {
        switch node.kind {
        case .device, .containers, .cacheTag: return .none
        case .home: return .descriptor(node.rare!.anchor!)
        case .file, .directory, .symbolicLink, .special: break
        }
        if let anchor = node.rare?.anchor { return .descriptor(anchor) }
        if let orphan = node.rare?.orphan { return .descriptor(orphan) }
        // The node or a directory above it was purged. A file may have another name, or be made anew.
        throw .system(node.isDirectory ? .noEntry : .stale)
    }

    /// For an ordinary user's daemon and a file with several names: a name in a directory that the user may search.
    private func reachableName(of node: Node) -> Place? {
        let further = table.furtherNames(of: node)
        guard further > 0 else { return nil }
        for _ in 0...further {
            guard let (parent, name) = table.location(of: node) else { return nil }
            if let directory = try? directory(parent), (try? directory.descriptor.status(of: name)) != nil {
                return .entry(directory, name)
            }
            table.preferNextName(of: node, to: (parent, name))
        }
        return nil
    }

    /// A descriptor for calls on a directory's entries.
    /// - Throws: ENOENT for a directory that was removed, or that the host does not have.
    func directory(_ node: Node) throws(Fault) -> SharedDescriptor {
        if let kept = directories.descriptor(of: node), node.rare?.isRemoved != true { return kept }
        // Up to the first directory that is open, and down again.
        var way: [(node: Node, name: FileName)] = []
        var next = node
        var reached: SharedDescriptor
        while true {
            if next.rare?.isRemoved == true { throw .system(.noEntry) }
            if let kept = directories.descriptor(of: next) {
                reached = kept
                break
            }
            if let (parent, name) = entry(next) {
                way.append((next, name))
                next = parent
                continue
            }
            guard case .descriptor(let descriptor) = try anchor(of: next) else { throw .system(.noEntry) }
            reached = descriptor
            break
        }
        // Only a long way gets landmarks: those of the short ways between them would take their places.
        let interval = way.count / DirectoryCache.landmarks
        for (index, (node, name)) in way.enumerated().reversed() {
            let directory = reached
            reached = try onHost { () throws(SystemError) in
                SharedDescriptor(try directory.descriptor.openDirectory(name))
            }
            if index < DirectoryCache.capacity / 2 {
                directories.keep(reached, for: node)
            } else if interval >= 16, index % interval == 0 {
                directories.keep(reached, for: node, isLandmark: true)
            }
        }
        return reached
    }

    /// The directory and name by which a directory is opened; nil for one that has a descriptor of its own, or no
    /// place.
    private func entry(_ node: Node) -> (parent: Node, name: FileName)? {
        node.hasEntryOnHost ? table.location(of: node) : nil
    }

    /// Whether a directory has an entry now; false where it cannot be examined.
    func hasEntry(_ name: FileName, in directory: Node) -> Bool {
        (try? self.directory(directory).descriptor.exists(name)) ?? false
    }
}
