// Looking at one path from outside the mount, and telling the kernel of what changed there without it.

public import BackingStore
import Platform
public import SandboxModel

extension Volume {
    /// - Parameter path: from the volume's root; the last name may be a symbolic link, the others are directories.
    /// - Throws: ENOENT, ENOTDIR, or the host's error.
    public func inspect(_ path: [FileName]) throws(Fault) -> NodeInspection {
        try reach(path) { (id) throws(Fault) in
            try names.reading { () throws(Fault) in
                let node = try node(id)
                let shown = try status(of: node)
                let stored = try stored(node)
                // A damaged file has no class to tell.
                let protection = (try? protection(of: node)) ?? nil
                let isReadable = protection.map { context.deviceState.canOpen($0) } ?? node.isStoredAsItIs
                return NodeInspection(
                    zone: node.zone, shown: shown, stored: stored ?? shown, protection: protection,
                    isReadable: shown.kind == .file ? isReadable : true, inclusion: try inclusion(of: node),
                    isExcluded: try isExcluded(node))
            }
        }
    }

    /// The caller holds `names`.
    private func stored(_ node: Node) throws(Fault) -> FileStatus? {
        switch try place(of: node) {
        case .none: nil
        case .descriptor(let descriptor): try onHost { () throws(SystemError) in try descriptor.descriptor.status() }
        case .entry(let directory, let name):
            try onHost { () throws(SystemError) in try directory.descriptor.status(of: name) }
        }
    }

    /// The file that is open for an inode of the host, if one is.
    public func openFile(inode: UInt64) -> EncryptedFile? {
        guard let node = table.known(inode: inode), !isPast(node) else { return nil }
        return openLock(of: node).reading {
            if case .encrypted(let file)? = node.open?.content { file } else { nil }
        }
    }

    /// Makes the kernel look again at an entry that came, went or changed without it, and at its directory.
    ///
    /// A directory on the way that the kernel cannot know either is passed over: it will look there by itself.
    public func noticeChange(of path: [FileName]) {
        guard let name = path.last, let kernelCache else { return }
        try? reach(path.dropLast()) { (parent) throws(Fault) in
            kernelCache.forgetEntry(name, in: parent)
            kernelCache.forgetContent(of: parent)
        }
    }

    /// Looks a path up for the time of the call.
    private func reach<Result>(
        _ path: some Sequence<FileName>, _ body: (NodeID) throws(Fault) -> Result
    ) throws(Fault) -> Result {
        var looked: [NodeID] = []
        defer { for node in looked.reversed() { forget(node, count: 1) } }
        var current = NodeID.root
        for name in path {
            current = try lookup(name, in: current).node
            looked.append(current)
        }
        return try body(current)
    }
}
