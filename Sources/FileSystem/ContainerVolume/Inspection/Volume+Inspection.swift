// Questions from outside the mount about one path or node, and changes that are made outside the mount.

import BackingStore
import Platform
public import SandboxModel
import SandboxPolicy

extension Volume {
    /// The facts about one path.
    /// - Parameter path: from the volume's root; the last name may be a symbolic link, the others are directories.
    /// - Throws: ENOENT, ENOTDIR, or the host's error.
    public func inspect(_ path: [FileName]) throws(Fault) -> NodeInspection {
        try reach(path) { (id) throws(Fault) in
            var found = try keepingPlace(of: id) { (node) throws(Fault) in
                let shown = try statuses.status(of: node)
                let stored = try stored(node)
                // A damaged file has no class.
                let protection = (try? classes.protection(of: node)) ?? nil
                let above = node.kind == .home ? nil : node.parent
                let isReadable = protection.map { context.deviceState.canOpen($0) } ?? node.isPlain
                return NodeInspection(
                    zone: node.zone, shown: shown, stored: stored ?? shown, protection: protection,
                    protectionAbove: above.flatMap { (try? classes.protection(of: $0)) ?? nil },
                    isReadable: shown.kind == .file ? isReadable : true, inclusion: try marks.inclusion(of: node),
                    isExcluded: try marks.isExcluded(node))
            }
            found.attributes = attributes(of: id)
            return found
        }
    }

    /// The attributes that copying tools see, then those that only a call by name does.
    private func attributes(of id: NodeID) -> [(name: [UInt8], value: [UInt8])] {
        var names = (try? attributeNames(of: id)) ?? []
        names += [ProtectionClass.attributeName, BackupInclusion.attributeName].map { Array($0.utf8) }
        names += BackupMark.Form.allCases.flatMap(\.names).map { Array($0.utf8) }
        var seen: Set<[UInt8]> = []
        return names.compactMap { name in
            guard seen.insert(name).inserted, let value = try? attribute(name, of: id) else { return nil }
            return (name, value)
        }
    }

    /// The host's status; nil for a node that the host does not have. The caller keeps the node's place.
    private func stored(_ node: Node) throws(Fault) -> FileStatus? {
        switch try places.place(of: node) {
        case .none: nil
        case .descriptor(let descriptor): try onHost { () throws(SystemError) in try descriptor.descriptor.status() }
        case .entry(let directory, let name):
            try onHost { () throws(SystemError) in try directory.descriptor.status(of: name) }
        }
    }

    /// Has the kernel look again at an entry that was made, removed or changed outside the mount, and at its directory.
    /// Does nothing where the path does not lead to a directory: the kernel caches nothing of it.
    public func noticeChange(of path: [FileName]) {
        guard let name = path.last, let kernelCache else { return }
        try? reach(path.dropLast()) { (parent) throws(Fault) in
            kernelCache.forgetEntry(name, in: parent)
            kernelCache.forgetContent(of: parent)
        }
    }

    /// Sets or removes an extended attribute of one path, as a call on the mount would, but for the mode.
    /// - Parameter value: nil to remove the attribute; where there is none, that does nothing.
    /// - Returns: whether the attribute has another value now.
    /// - Throws: EOPNOTSUPP for anything but a file or directory; as ``setAttribute(_:to:flags:of:)``.
    @discardableResult
    public func change(attribute name: [UInt8], to value: [UInt8]?, of path: [FileName]) throws(Fault) -> Bool {
        try reach(path) { (node) throws(Fault) in
            let kind = try self.node(node).kind
            guard kind != .symbolicLink, kind != .special else { throw .system(.notSupported) }
            let before = try? self.attribute(name, of: node)
            do throws(Fault) {
                if let value {
                    try setAttribute(name, to: value, flags: 0, of: node)
                } else {
                    try removeAttribute(name, of: node)
                }
            } catch {
                guard value == nil, error == .system(.noAttribute) else { throw error }
            }
            guard before != (try? self.attribute(name, of: node)) else { return false }
            kernelCache?.forgetStatus(of: node)
            return true
        }
    }

    /// Looks a path up for the time of the call.
    func reach<Result>(
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

    // MARK: Places for people

    /// The place of a node, or of an entry of it.
    public func homePath(of node: NodeID, _ name: FileName? = nil) -> HomePath {
        guard let node = table.node(node) else { return HomePath(app: nil, path: nil, cut: 0) }
        return table.homePath(of: node, name)
    }

    /// The place that shows a change of a node: of a file with further names, which the kernel need not have looked up,
    /// anything in its home.
    public func placeOfChange(of id: NodeID) -> HomePath {
        let place = homePath(of: id)
        let count = try? keepingPlace(of: id) { (node) throws(Fault) in
            node.kind == .file ? try statuses.status(of: node).linkCount : 1
        }
        return (count ?? 1) > 1 ? HomePath.anything(of: place.app) : place
    }

    /// - Returns: nil when the node of this inode of the host is not known.
    public func homePath(ofInode inode: UInt64) -> HomePath? {
        table.known(inode: inode).map { table.homePath(of: $0) }
    }

    /// The names that lead to a directory from the root; nil when it has none any more.
    public func path(to directory: NodeID) -> [FileName]? {
        names.reading {
            guard var node = table.node(directory) else { return nil }
            var path: [FileName] = []
            while node !== table.root {
                guard let (parent, name) = table.location(of: node) else { return nil }
                path.append(name)
                node = parent
            }
            return path.reversed()
        }
    }

    // MARK: The side of a call that a rule refused

    /// Whether a rule refuses an operation on a node.
    public func refuses(_ operation: Operation, _ node: NodeID, by rule: Rule) -> Bool {
        names.reading {
            table.node(node).map { SandboxPolicy.refusal(of: operation, in: $0.zone) == rule } ?? false
        }
    }

    /// Whether a rule refuses an operation on an entry, or, if the operation gives a name, on the entry's directory.
    public func refuses(_ operation: Operation, _ name: FileName, in parent: NodeID, by rule: Rule) -> Bool {
        names.reading {
            guard let parent = table.node(parent) else { return false }
            let zone = parent.zone(of: name)
            guard operation.givesName else { return SandboxPolicy.refusal(of: operation, in: zone) == rule }
            return SandboxPolicy.refusal(of: operation, in: parent.zone) == rule
                || SandboxPolicy.refusal(of: operation, naming: zone) == rule
        }
    }
}
