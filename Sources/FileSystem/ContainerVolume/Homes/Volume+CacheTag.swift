// The CACHEDIR.TAG that a mount shows in Library/Caches and tmp when it was asked to, for backup tools that know it.
// No container has it: it takes no room, cannot be purged, and is the mount's own. What an app has under that name is
// hidden by it, and there again in a mount without it.

import BackingStore
import Glibc
import Platform
import SandboxModel

extension Volume {
    private static let tagContent = SyntheticFile(CacheDirectoryTag.content)

    /// Where a listing goes on behind the tag, which comes first: no host's position, being the letters CACHEDIR.
    static let behindCacheTag: Int64 = 0x4341_4348_4544_4952

    /// Whether a name in a directory is that of a tag which is shown there. The caller holds `names`.
    func isCacheTag(_ name: FileName, in directory: Node) -> Bool {
        guard directory.zone == .standardDirectory, name == CacheDirectoryTag.name,
            Volume.purgeableDirectory(directory) != nil
        else { return false }
        return home(of: directory)?.showsCacheTags ?? false
    }

    /// The entry of the tag, looked up. The caller holds `names`.
    func cacheTag(in directory: Node) -> Entry {
        // Inode numbers of what the host does not have lie above those that a host gives.
        let node = table.lookUp(
            inode: directory.inode | 1 << 60, kind: .cacheTag, zone: .cacheTag, parent: directory,
            name: CacheDirectoryTag.name)
        return Entry(node: node.id, generation: UInt64(node.generation), status: statusOfCacheTag(node))
    }

    /// - Returns: whether it was taken.
    func emitCacheTag(of directory: Node, withEntry: Bool, _ emit: (ListedEntry) -> Bool) -> Bool {
        let found = cacheTag(in: directory)
        let isTaken = emit(
            ListedEntry(
                terminatedName: CacheDirectoryTag.name.terminated, inode: found.status.inode, type: UInt8(DT_REG),
                next: Volume.behindCacheTag, entry: withEntry ? found : nil))
        // No home goes with it: the directory that is being listed stays known.
        if !isTaken || !withEntry { _ = table.forget(found.node, count: 1) }
        return isTaken
    }

    /// The caller holds `names`.
    func statusOfCacheTag(_ node: Node) -> FileStatus {
        var status = stat()
        let home = home(of: node)
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
        status.st_uid = home?.owner ?? daemonUser
        status.st_gid = home?.group ?? daemonGroup
        status.st_size = off_t(Volume.tagContent.size)
        status.st_blksize = 4096
        // It takes nothing; but a file without blocks is one hole to those who copy it.
        status.st_blocks = 1
        return FileStatus(status)
    }

    /// - Parameter flags: as open(2) has them.
    func openCacheTag(_ node: Node, flags: Int32) throws(Fault) -> FileHandle {
        if flags & O_ACCMODE != O_RDONLY { try permit(.write, on: node.zone) }
        if flags & O_TRUNC != 0 { try permit(.truncate, on: node.zone) }
        return FileHandle(node: node, content: .synthetic(Volume.tagContent), canWrite: false)
    }
}
