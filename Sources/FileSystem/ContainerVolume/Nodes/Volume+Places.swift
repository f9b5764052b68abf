// From a node to the host: the directory and name, or the descriptor, by which a system call reaches it.

import BackingStore
import Glibc
import Platform
import SandboxModel

extension Volume {
    /// The caller holds `names`.
    func place(of node: Node) throws(Fault) -> Place {
        // Its name may be another file's by now.
        if isPast(node) { throw .system(.stale) }
        switch node.kind {
        case .device, .containers, .cacheTag: return .none
        case .home: return .descriptor(node.rare!.anchor!)
        case .file, .directory, .symbolicLink, .special: break
        }
        if let anchor = node.rare?.anchor { return .descriptor(anchor) }
        if let (parent, name) = table.location(of: node) {
            if daemonUser != 0, let reached = reachableName(of: node) { return reached }
            return .entry(try directory(parent), name)
        }
        if let orphan = node.rare?.orphan { return .descriptor(orphan) }
        // What was purged, or lies in what was, has no place. A file may have another name, or be made anew: the kernel is
        // to look it up again.
        throw .system(node.isDirectory ? .noEntry : .stale)
    }

    /// For an ordinary user's daemon and a file with several names: one in a directory that is not closed to the user.
    private func reachableName(of node: Node) -> Place? {
        let further = table.furtherNames(of: node)
        guard further > 0 else { return nil }
        for _ in 0...further {
            guard let (parent, name) = table.location(of: node) else { return nil }
            if let directory = try? directory(parent), (try? directory.descriptor.status(of: name)) != nil {
                return .entry(directory, name)
            }
            table.preferNextName(of: node)
        }
        return nil
    }

    /// How a node's attributes are reached: by its open file where it has one, because those who have it open may act
    /// on it though its directory has become closed to them. The caller holds `names`.
    func holder(of node: Node) throws(Fault) -> Place {
        if node.kind == .file, let backing = openLock(of: node).reading({ node.open?.content.backing }) {
            return .descriptor(backing)
        }
        return try place(of: node)
    }

    /// A descriptor for calls on a directory's entries. The caller holds `names`.
    func directory(_ node: Node) throws(Fault) -> SharedDescriptor {
        if node.rare?.isRemoved == true { throw .system(.noEntry) }
        if let kept = directories.descriptor(of: node) { return kept }
        switch try place(of: node) {
        case .none: throw .system(.noEntry)
        case .descriptor(let descriptor): return descriptor
        case .entry(let parent, let name):
            let descriptor = try onHost { () throws(SystemError) in
                SharedDescriptor(try parent.descriptor.openDirectory(name))
            }
            directories.keep(descriptor, for: node)
            return descriptor
        }
    }

    /// The node of a directory that entries are made in or taken from. The caller holds `names`.
    func parent(_ id: NodeID) throws(Fault) -> Node {
        let node = try node(id)
        guard node.isDirectory else { throw .system(.notDirectory) }
        return node
    }

    func zone(of name: FileName, in parent: Node) -> Zone {
        if isCacheTag(name, in: parent) { return .cacheTag }
        return Zone.of(
            name, in: parent.zone,
            inLibrary: parent.zone == .standardDirectory && parent.name == Home.library
                && parent.parent?.kind == .home)
    }

    // MARK: Status

    /// The status of a node as the mount shows it. The caller holds `names`.
    func status(of node: Node) throws(Fault) -> FileStatus {
        let status: FileStatus
        if node.kind == .file, let content = openLock(of: node).reading({ node.open?.content }) {
            status = try hostStatus(of: content)
        } else {
            if node.kind == .cacheTag { return statusOfCacheTag(node) }
            switch try place(of: node) {
            case .entry(let directory, let name):
                status = try onHost { () throws(SystemError) in try directory.descriptor.status(of: name) }
            case .descriptor(let descriptor):
                status = try onHost { () throws(SystemError) in try descriptor.descriptor.status() }
            case .none:
                return statusOfMadeUpDirectory(node)
            }
        }
        return present(
            status, zone: node.zone, home: node.zone == .container ? nil : home(of: node), sealed: node.rare?.sealed)
    }

    /// The status of an open file, with the time of its last write.
    func hostStatus(of content: OpenFile.Content) throws(Fault) -> FileStatus {
        try onHost { () throws(SystemError) in
            switch content {
            case .encrypted(let file):
                guard let time = file.modificationTime else { return try file.backing.descriptor.status() }
                return try file.backing.descriptor.status(writtenAt: time)
            case .sealed(let file): return try file.backing.descriptor.status()
            case .synthetic: throw .stale
            }
        }
    }

    /// What the mount shows of a host file: the content's length, and for what belongs to the system the container's
    /// user as its owner, who may write as far as the mode goes: so the app meets the sandbox's EPERM.
    ///
    /// - Parameter sealed: of an entry of the bundle, its number in the list of digests.
    func present(_ status: FileStatus, zone: Zone, home: Home?, sealed: Int? = nil) -> FileStatus {
        var shown = status.raw
        if let home, let sealed { shown = home.bundle.present(sealed, status).raw }
        if status.kind == .file, zone != .bundle {
            shown.st_size = off_t(ContentLayout.length(ofBacking: status.size))
        }
        switch zone {
        case .bundle, .inbox, .home, .metadata, .containers:
            guard let home else { break }
            shown.st_uid = home.owner
            shown.st_gid = home.group
            shown.st_mode |= S_IWUSR
            if zone == .home {
                shown.st_mode = S_IFDIR | (home.isPrivate ? 0o700 : 0o755)
                shown.st_nlink = nlink_t(home.linkCount)
            }
        case .device, .standardDirectory, .documents, .inboxItem, .cacheTag, .container:
            break
        }
        return FileStatus(shown)
    }

    private func statusOfMadeUpDirectory(_ node: Node) -> FileStatus {
        var status = stat()
        let home = home(of: node)
        if let times = try? (home?.data ?? device).descriptor.status() {
            status.st_atim = times.raw.st_atim
            status.st_mtim = times.raw.st_mtim
            status.st_ctim = times.raw.st_ctim
        }
        status.st_ino = ino_t(node.inode)
        status.st_mode = S_IFDIR | 0o755
        let directories = node.kind == .device ? allHomes.count : home?.containers(named: node.name!).count ?? 0
        status.st_nlink = nlink_t(2 + directories)
        status.st_uid = home?.owner ?? daemonUser
        status.st_gid = home?.group ?? daemonGroup
        return FileStatus(status)
    }
}
