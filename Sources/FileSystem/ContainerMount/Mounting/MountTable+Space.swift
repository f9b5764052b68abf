// A device that is nearly full: what the kernel is told of it.

import BackingStore
import ContainerVolume
import Platform

extension MountTable {
    /// Has the kernel hold little and ask before each write(2) while the device is nearly full, and neither otherwise. To be
    /// called when that has changed, or the capacity, with no lock held.
    public func noticeTightness() {
        for superblock in superblocks {
            superblock.boundDirtyPages()
            if superblock.volume.space.isTight { superblock.volume.haveWritersAsk() }
        }
    }
}

extension Superblock {
    /// Has the kernel keep no more unwritten than what a small device can take, where this process may say so, and lets
    /// the ledger know what it keeps.
    func boundDirtyPages() {
        guard let entrance else { return }
        let space = volume.space
        DirtyPages.setShare(Superblock.usualShare, ofFilesystemAt: entrance)
        guard let capacity = space.capacity,
            let usual = DirtyPages.bytes(ofFilesystemAt: entrance).map({ Int64($0) })
        else { return }
        let bound = min(usual, max(capacity / Superblock.fraction, Superblock.least))
        if bound < usual { DirtyPages.setBytes(Int(bound), ofFilesystemAt: entrance) }
        space.bound(dirty: DirtyPages.bytes(ofFilesystemAt: entrance).map { Int64($0) } ?? usual)
        // Of the reserve it fills, before writers are stopped, twice as much as it is told, and what they are at.
        if space.isTight { DirtyPages.setBytes(Int(space.reserve / 4), ofFilesystemAt: entrance) }
    }

    /// What the kernel gives a FUSE filesystem by itself, in percent of what it keeps unwritten at all.
    private static let usualShare = 1
    /// Of the capacity.
    private static let fraction: Int64 = 16
    /// Fewer bytes make writers wait for every request.
    private static let least: Int64 = 1 << 20
}
