// Limits the kernel's dirty pages on a small or nearly full device.

import BackingStore
import ContainerVolume
import Platform

extension MountTable {
    /// While the device is nearly full, has the kernel keep few dirty pages and ask before each write(2). Call it after
    /// the space or the capacity has changed, with no lock held.
    public func noticeTightness() {
        for superblock in superblocks {
            superblock.boundDirtyPages()
            if superblock.volume.space.isTight { superblock.volume.haveWritersAsk() }
        }
    }
}

extension Superblock {
    /// Bounds the superblock's dirty pages by the device's capacity, where this process may, and tells the space ledger
    /// the bound.
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
        // The kernel exceeds the bound twofold, and by the write(2) under way, before it stops writers (see Kernel).
        if space.isTight { DirtyPages.setBytes(Int(space.reserve / 4), ofFilesystemAt: entrance) }
    }

    /// The kernel's default share for FUSE, in percent of all dirty pages.
    private static let usualShare = 1
    /// The bound is the capacity divided by this.
    private static let fraction: Int64 = 16
    /// Bytes. Below this, writers wait for every request.
    private static let least: Int64 = 1 << 20
}
