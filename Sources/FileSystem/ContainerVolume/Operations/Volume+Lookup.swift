// lookup, readlink and readdir: what is there.

import BackingStore
import Glibc
import Platform
public import SandboxModel

extension Volume {
    // MARK: Lookup

    /// Finds an entry. Each one returned counts as one lookup, to be taken back by ``forget(_:count:)``.
    ///
    /// - Throws: ENOENT, ENOTDIR, or the host's error.
    public func lookup(_ name: FileName, in parent: NodeID) throws(Fault) -> Entry {
        try names.reading { () throws(Fault) in
            if parent == .root, let entry = try enter(through: name) { return entry }
            return try find(name, in: try self.parent(parent))
        }
    }

    /// The caller holds `names`.
    func find(_ name: FileName, in parent: Node) throws(Fault) -> Entry {
        switch parent.kind {
        case .device:
            guard let home = home(named: name) else { throw .system(.noEntry) }
            return try enter(anchor: home.data, kind: .home, zone: .home, parent: parent, name: name, home: home)
        case .home:
            return try findAtTop(name, parent)
        case .containers:
            guard let home = home(of: parent), let container = ContainerIdentifier(name.text),
                let anchor = home.containers(named: parent.name!)[container]
            else { throw .system(.noEntry) }
            return try enter(
                anchor: anchor, kind: .directory, zone: .standardDirectory, parent: parent, name: name, home: nil,
                view: view(of: home, ContainerViews.Place(directory: parent.name!, container: container)))
        default:
            return try findOnHost(name, parent)
        }
    }

    private func findAtTop(_ name: FileName, _ parent: Node) throws(Fault) -> Entry {
        guard let home = home(of: parent) else { throw .system(.noEntry) }
        if home.bundleEntries.contains(name) {
            return try enter(
                anchor: home.bundle.root, kind: .directory, zone: .bundle, parent: parent, name: name, home: nil,
                sealed: SealedBundle.top)
        }
        if home.containerDirectories.contains(name) {
            let inode = Volume.inode(ofContainers: name, home: parent.inode)
            let node = table.lookUp(inode: inode, kind: .containers, zone: .containers, parent: parent, name: name)
            return Entry(
                node: node.id, generation: UInt64(node.generation), status: try status(of: node))
        }
        guard home.dataEntries.contains(name) else { throw .system(.noEntry) }
        return try findOnHost(name, parent)
    }

    private func findOnHost(_ name: FileName, _ parent: Node) throws(Fault) -> Entry {
        if parent.zone == .bundle { return try findSealed(name, parent) }
        if isCacheTag(name, in: parent) { return cacheTag(in: parent) }
        let directory = try directory(parent)
        let status = try onHost { () throws(SystemError) in try directory.descriptor.status(of: name) }
        return entry(status, name, parent)
    }

    /// Makes a container's root known, or knows it once more.
    private func enter(
        anchor: SharedDescriptor, kind: Node.Kind, zone: Zone, parent: Node, name: FileName, home: Home?,
        sealed: Int? = nil, view: ContainerView? = nil
    ) throws(Fault) -> Entry {
        let status = try onHost { () throws(SystemError) in try anchor.descriptor.status() }
        let node = table.lookUp(
            inode: status.inode, kind: kind, zone: zone, parent: parent, name: name, view: view
        ) { node in
            node.withRare { rare in
                rare.anchor = anchor
                rare.home = home
                rare.sealed = sealed
            }
        }
        return Entry(
            node: node.id, generation: UInt64(node.generation),
            status: present(status, zone: zone, home: home ?? self.home(of: node), sealed: sealed),
            keepsAttributes: !(view?.isShared ?? false))
    }

    /// The entry of something the host has. The caller holds `names`.
    func entry(_ status: FileStatus, _ name: FileName, _ parent: Node, isNew: Bool = false) -> Entry {
        let kind: Node.Kind =
            switch status.kind {
            case .file: .file
            case .directory: .directory
            case .symbolicLink: .symbolicLink
            case .fifo, .socket, .device: .special
            }
        let zone = zone(of: name, in: parent)
        let node = table.lookUp(inode: status.inode, kind: kind, zone: zone, parent: parent, name: name)
        if isNew { noteGiven(name, in: parent) }
        let shown = present(status, zone: zone, home: zone == .container ? nil : home(of: parent))
        // A file is one node to all homes, and so are its attributes; names and directories are each home's own.
        let isShared = parent.view?.isShared ?? false
        return Entry(
            node: node.id, generation: UInt64(node.generation), status: shown,
            keepsAttributes: kind == .directory ? !isShared : keepsAttributes(of: node.id, shown), keepsName: !isShared)
    }

    public func symbolicLinkTarget(of node: NodeID) throws(Fault) -> [UInt8] {
        try names.reading { () throws(Fault) in
            let node = try self.node(node)
            if let target = sealedTarget(of: node) { return target }
            guard case .entry(let directory, let name) = try place(of: node) else { throw .system(.stale) }
            return try onHost { () throws(SystemError) in try directory.descriptor.symbolicLinkTarget(name) }
        }
    }

    // MARK: Listing

    /// One entry of a directory as it is listed.
    public struct ListedEntry: Sendable {
        /// The name with a NUL behind it: a ``FileName``'s, or `.` or `..`.
        public let terminatedName: [UInt8]
        public let inode: UInt64
        /// DT_DIR and its siblings.
        public let type: UInt8
        /// The position behind this entry.
        public let next: Int64
        /// The entry as a lookup gives it; nil for `.` and `..`, or when it was not asked for.
        public let entry: Entry?
    }

    /// Lists a directory from a position that an earlier listing gave; 0 is its beginning.
    ///
    /// - Parameters:
    ///   - withEntries: look each entry up as well; what `emit` takes counts as looked up.
    ///   - emit: returns false when it has no room for the entry, which ends the listing.
    public func list(
        _ node: NodeID, from position: Int64, withEntries: Bool, _ emit: (ListedEntry) -> Bool
    ) throws(Fault) {
        try names.reading { () throws(Fault) in
            let parent = try self.parent(node)
            if parent.kind == .directory {
                try listHost(parent, from: position, withEntries: withEntries, emit)
            } else {
                try listMadeUp(parent, from: position, withEntries: withEntries, emit)
            }
        }
    }

    private func listHost(
        _ parent: Node, from position: Int64, withEntries: Bool, _ emit: (ListedEntry) -> Bool
    ) throws(Fault) {
        let directory = try directory(parent)
        let withEntries = withEntries && !(parent.zone == .bundle && isReplaced(parent))
        let showsCacheTag = isCacheTag(CacheDirectoryTag.name, in: parent)
        if showsCacheTag, position == 0, !emitCacheTag(of: parent, withEntry: withEntries, emit) { return }
        let reader = try onHost { () throws(SystemError) in
            let reader = DirectoryReader(try directory.descriptor.reopen(flags: O_RDONLY | O_DIRECTORY))
            if position > 0, position != Volume.behindCacheTag { try reader.seek(position) }
            return reader
        }
        while let item = try onHost({ () throws(SystemError) in try reader.nextOfAny() }) {
            // What the app has under the name is hidden by the tag.
            if showsCacheTag, item.name == CacheDirectoryTag.name { continue }
            var found: Entry?
            if parent.zone == .bundle, let name = item.name {
                // What was put into the backing copy is none of the bundle's.
                guard let sealed = try? findSealed(name, parent) else { continue }
                if withEntries { found = sealed } else { forget(sealed.node, count: 1) }
            } else if withEntries, let name = item.name {
                do throws(SystemError) {
                    found = entry(try directory.descriptor.status(of: name), name, parent)
                } catch {
                    // An entry may go while the directory is listed: it is then not listed. One that may not be
                    // looked up, in a directory without search permission, is.
                    if error == .noEntry { continue }
                }
            }
            let isTaken = emit(
                ListedEntry(
                    terminatedName: item.terminatedName, inode: item.inode, type: item.type, next: item.next,
                    entry: found))
            if !isTaken {
                if let found { forget(found.node, count: 1) }
                return
            }
        }
    }

    private func listMadeUp(
        _ parent: Node, from position: Int64, withEntries: Bool, _ emit: (ListedEntry) -> Bool
    ) throws(Fault) {
        var listed: [FileName] = []
        switch parent.kind {
        case .device:
            listed = allHomes.map { $0.app.fileName }
        case .home:
            if let home = home(of: parent) {
                listed = home.bundleEntries + home.dataEntries + home.containerDirectories
            }
        default:
            listed = (home(of: parent)?.containers(named: parent.name!).keys.sorted() ?? []).map(\.fileName)
        }
        let dots: [[UInt8]] = [[UInt8(ascii: "."), 0], [UInt8(ascii: "."), UInt8(ascii: "."), 0]]
        for index in Int(position)..<max(Int(position), listed.count + dots.count) {
            if index < dots.count {
                let above = index == 0 ? parent : parent.parent ?? parent
                let item = ListedEntry(
                    terminatedName: dots[index], inode: above.inode, type: UInt8(DT_DIR), next: Int64(index + 1),
                    entry: nil)
                if !emit(item) { return }
                continue
            }
            let name = listed[index - dots.count]
            guard let found = try? find(name, in: parent) else { continue }
            let item = ListedEntry(
                terminatedName: name.terminated, inode: found.status.inode,
                type: UInt8(found.status.kind == .directory ? DT_DIR : DT_REG), next: Int64(index + 1),
                entry: withEntries ? found : nil)
            let isTaken = emit(item)
            if !isTaken || !withEntries { forget(found.node, count: 1) }
            if !isTaken { return }
        }
    }
}
