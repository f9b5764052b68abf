// stat: the status of each kind of node.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// Reads the status of nodes as the mount shows it.
///
/// Lock rule: it has no state of its own. The caller of each method keeps the node's place, and holds no open lock.
struct StatusReader {
    let openFiles: OpenFileTable
    let homes: HomeRegistry
    /// The device's directory, which gives its times to the device's root.
    let device: SharedDescriptor

    func status(of node: Node) throws(Fault) -> FileStatus {
        if node.kind == .file, let content = openFiles.lock(of: node).reading({ node.open?.content }) {
            return try content.shownStatus().presented(of: node)
        }
        let places = openFiles.places
        if node.kind == .cacheTag {
            return CacheTags(table: places.table, credentials: places.credentials).status(of: node)
        }
        let place = try places.place(of: node)
        if case .none = place { return statusOfSyntheticDirectory(node) }
        return place.shown(try onHost { () throws(SystemError) in try place.status() }).presented(of: node)
    }

    private func statusOfSyntheticDirectory(_ node: Node) -> FileStatus {
        var status = stat()
        let home = node.home
        if let times = try? (home?.data ?? device).descriptor.status() {
            status.st_atim = times.raw.st_atim
            status.st_mtim = times.raw.st_mtim
            status.st_ctim = times.raw.st_ctim
        }
        status.st_ino = ino_t(node.inode)
        status.st_mode = S_IFDIR | 0o755
        let directories = node.kind == .device ? homes.count : home?.containers(named: node.name!).count ?? 0
        status.st_nlink = nlink_t(2 + directories)
        let credentials = openFiles.places.credentials
        status.st_uid = home?.owner ?? credentials.user
        status.st_gid = home?.group ?? credentials.group
        return FileStatus(status)
    }
}

extension OpenFile.Content {
    /// The status of an open file with the mode that the app gave it.
    func shownStatus() throws(Fault) -> FileStatus {
        let status = try status()
        guard NodeModes.hasSign(status), let backing else { return NodeModes.shown(status) { nil } }
        return Place.descriptor(backing).shown(status)
    }

    /// The host's status of an open file, with the time of its last write.
    func status() throws(Fault) -> FileStatus {
        try onHost { () throws(SystemError) in
            switch self {
            case .encrypted(let file):
                guard let time = file.modificationTime else { return try file.backing.descriptor.status() }
                return try file.backing.descriptor.status(writtenAt: time)
            case .sealed(let file): return try file.backing.descriptor.status()
            case .synthetic: throw .stale
            }
        }
    }
}
