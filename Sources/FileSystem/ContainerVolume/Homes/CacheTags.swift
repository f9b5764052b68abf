// The CACHEDIR.TAG that a mount shows in Library/Caches and tmp on request, for backup tools that know it. No container
// has it: it takes no space, cannot be purged, and belongs to the mount. It hides an app's file of that name, which
// shows again in a mount without the tag.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// The cache tags of a volume: nodes without a file on the host.
///
/// Lock rule: it has no state of its own. The caller of each method holds `names`.
struct CacheTags {
    let table: NodeTable
    let credentials: DaemonCredentials

    private static let content = SyntheticFile(CacheDirectoryTag.content)

    /// The position of a listing behind the tag, which comes first: the letters CACHEDIR, which no host gives as a
    /// position.
    static let behindTag: Int64 = 0x4341_4348_4544_4952

    /// Counts a lookup of the tag in a directory. The caller holds `names`.
    func entry(in directory: Node) -> Entry {
        let node = table.lookUp(
            FoundEntry(
                inode: SyntheticInode.cacheTag(in: directory.inode), kind: .cacheTag, zone: .cacheTag,
                parent: directory,
                name: CacheDirectoryTag.name))
        return Entry(node: node.id, generation: UInt64(node.generation), status: status(of: node))
    }

    /// Lists the tag of a directory.
    /// - Returns: whether `emit` took it.
    func emit(of directory: Node, withEntry: Bool, _ emit: (Volume.ListedEntry) -> Bool) -> Bool {
        let found = entry(in: directory)
        let isTaken = emit(
            Volume.ListedEntry(
                terminatedName: CacheDirectoryTag.name.terminated, inode: found.status.inode, type: UInt8(DT_REG),
                next: CacheTags.behindTag, entry: withEntry ? found : nil))
        // No home leaves the table with it: the directory that is being listed stays known.
        if !isTaken || !withEntry { _ = table.forget(found.node, count: 1) }
        return isTaken
    }

    /// The status of a tag. The caller holds `names`.
    func status(of node: Node) -> FileStatus {
        var status = stat()
        let home = node.home
        // As old as the container: the directory it is in changes all the time.
        if let times = try? home?.data.descriptor.status() {
            status.st_atim = times.raw.st_mtim
            status.st_mtim = times.raw.st_mtim
            status.st_ctim = times.raw.st_mtim
        }
        status.st_ino = ino_t(node.inode)
        // The owner's write bit, as on all that belongs to the system: so the app meets EPERM.
        status.st_mode = S_IFREG | 0o644
        status.st_nlink = node.parent == nil ? 0 : 1
        status.st_uid = home?.owner ?? credentials.user
        status.st_gid = home?.group ?? credentials.group
        status.st_size = off_t(CacheTags.content.size)
        status.st_blksize = 4096
        // The tag takes no space, but a copy program takes a file without blocks for one hole.
        status.st_blocks = 1
        return FileStatus(status)
    }

    /// Opens a tag for reading.
    /// - Parameter flags: as open(2) has them.
    func open(_ node: Node, flags: Int32) throws(Fault) -> FileHandle {
        if flags & O_ACCMODE != O_RDONLY { try node.zone.permit(.write) }
        if flags & O_TRUNC != 0 { try node.zone.permit(.truncate) }
        return FileHandle(node: node, content: .synthetic(CacheTags.content), canWrite: false)
    }
}
