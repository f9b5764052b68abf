// lookup and readlink.

import BackingStore
import Glibc
import Platform
public import SandboxModel

extension Volume {
    /// Finds an entry. The result counts as one lookup, which ``forget(_:count:)`` takes back.
    ///
    /// - Throws: ENOENT, ENOTDIR, or the host's error.
    public func lookup(_ name: FileName, in parent: NodeID) throws(Fault) -> Entry {
        try names.reading { () throws(Fault) in
            if parent == .root, let entry = try enter(through: name) { return entry }
            let parent = try self.parent(parent)
            return try entryLocks.keepingEntries(of: parent) { () throws(Fault) in try find(name, in: parent) }
        }
    }

    /// Finds an entry of a directory of any kind. The caller holds `names` and the lock of the directory's entries.
    func find(_ name: FileName, in parent: Node) throws(Fault) -> Entry {
        switch parent.kind {
        case .device:
            guard let home = homes.home(named: name) else { throw .system(.noEntry) }
            return try enter(ContainerRoot(anchor: home.data, kind: .home, zone: .home, home: home), name, in: parent)
        case .home:
            return try findAtTop(name, parent)
        case .containers:
            guard let home = parent.home, let container = ContainerIdentifier(name.text),
                let anchor = home.containers(named: parent.name!)[container]
            else { throw .system(.noEntry) }
            let place = ContainerViews.Place(directory: parent.name!, container: container)
            return try enter(
                ContainerRoot(
                    anchor: anchor, kind: .directory, zone: .standardDirectory,
                    view: homes.sharing.view(of: home, place)),
                name, in: parent)
        default:
            return try findOnHost(name, parent)
        }
    }

    /// The top level of a home: the bundle, directories of the data container, `Groups` and `iCloud`.
    private func findAtTop(_ name: FileName, _ parent: Node) throws(Fault) -> Entry {
        guard let home = parent.home else { throw .system(.noEntry) }
        if home.bundleEntries.contains(name) {
            return try enter(
                ContainerRoot(
                    anchor: home.bundle.root, kind: .directory, zone: .bundle, sealed: SealedBundle.top,
                    view: homes.sharing.bundleView(of: home)),
                name, in: parent)
        }
        if home.containerDirectories.contains(name) {
            let inode = SyntheticInode.containers(name, in: parent.inode)
            let node = table.lookUp(
                FoundEntry(inode: inode, kind: .containers, zone: .containers, parent: parent, name: name))
            return Entry(
                node: node.id, generation: UInt64(node.generation), status: try statuses.status(of: node))
        }
        guard home.dataEntries.contains(name) else { throw .system(.noEntry) }
        return try findOnHost(name, parent)
    }

    private func findOnHost(_ name: FileName, _ parent: Node) throws(Fault) -> Entry {
        if parent.zone == .bundle { return try bundles.find(name, in: parent) }
        if parent.isCacheTag(name) { return cacheTags.entry(in: parent) }
        let directory = try places.directory(parent)
        let status = try onHost { () throws(SystemError) in try directory.descriptor.status(of: name) }
        return entry(status, name, parent)
    }

    /// The root of a container or of a home, which a descriptor reaches.
    private struct ContainerRoot {
        let anchor: SharedDescriptor
        let kind: Node.Kind
        let zone: Zone
        /// The home, of its own root.
        var home: Home?
        /// The bundle's directory as ``SealedBundle`` numbers it.
        var sealed: Int?
        var view: ContainerView?
    }

    /// Counts a lookup of a container's root.
    private func enter(_ root: ContainerRoot, _ name: FileName, in parent: Node) throws(Fault) -> Entry {
        let status = try onHost { () throws(SystemError) in try root.anchor.descriptor.status() }
        let found = FoundEntry(
            inode: status.inode, kind: root.kind, zone: root.zone, parent: parent, name: name, view: root.view)
        let node = table.lookUp(found) { node in
            node.withRare { rare in
                rare.anchor = root.anchor
                rare.sealed = root.sealed
            }
            if let home = root.home { node.scope?.ownHome = home }
        }
        return Entry(
            node: node.id, generation: UInt64(node.generation),
            status: status.presented(zone: root.zone, home: root.home ?? node.home, sealed: root.sealed),
            mayCacheStatus: !(root.view?.isShared ?? false))
    }

    /// Counts a lookup of an entry that the host has. The caller holds `names` and the lock of the directory's entries
    /// since it asked the host.
    /// - Parameter isNew: whether a call has just made the entry.
    func entry(_ status: FileStatus, _ name: FileName, _ parent: Node, isNew: Bool = false) -> Entry {
        let kind: Node.Kind =
            switch status.kind {
            case .file: .file
            case .directory: .directory
            case .symbolicLink: .symbolicLink
            case .fifo, .socket, .device: .special
            }
        let zone = parent.zone(of: name)
        let node = table.lookUp(
            FoundEntry(inode: status.inode, kind: kind, zone: zone, parent: parent, name: name))
        if isNew { recordName(name, in: parent) }
        var status = NodeModes.shown(status) { nil }
        if NodeModes.hasSign(status), let directory = try? places.directory(parent) {
            status = Place.entry(directory, name).shown(status)
        }
        let shown = status.presented(zone: zone, home: zone == .container ? nil : parent.home)
        // A file is one node in all homes, and so are its attributes. Names and directories are each home's own.
        let isShared = parent.view?.isShared ?? false
        return Entry(
            node: node.id, generation: UInt64(node.generation), status: shown,
            mayCacheStatus: kind == .directory ? !isShared : mayCacheStatus(of: node.id, shown), keepsName: !isShared)
    }

    /// The target of a symbolic link; in the bundle, the target as it was installed.
    public func symbolicLinkTarget(of node: NodeID) throws(Fault) -> [UInt8] {
        try keepingPlace(of: node) { (node) throws(Fault) in
            if let target = node.sealedTarget { return target }
            guard case .entry(let directory, let name) = try places.place(of: node) else { throw .system(.stale) }
            return try onHost { () throws(SystemError) in try directory.descriptor.symbolicLinkTarget(name) }
        }
    }
}
