// One superblock of the kernel: a volume, the session that serves it, and the path of its root.

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel
import Synchronization

/// A volume as one filesystem of the kernel.
struct Superblock: Sendable {
    let volume: Volume
    let session: Session
    /// The path of the mount's root; nil once it is out of sight.
    let entrance: String?

    /// Has the kernel write out all dirty pages, in large requests (syncfs(2)).
    func writeOut() {
        if let entrance { MountPoint.synchronize(entrance) }
    }

    /// Has the kernel drop all it caches of containers that a second home is about to show. Do not call it from a
    /// request.
    func stopCaching(_ containers: NewlyShared) {
        if containers.isEmpty { return }
        // After this, earlier replies have reached the kernel.
        session.quiesce()
        volume.forget(containers)
        session.notifications.drain()
        volume.expire(containers)
        session.notifications.drain()
    }

    /// Opens the root through the mount.
    /// - Returns: nil if the mount is out of sight, or another filesystem is mounted at the entrance.
    func openRoot() -> SharedDescriptor? {
        guard let entrance, let root = try? MountPoint.open(entrance),
            let inode = try? root.descriptor.status().inode, inode == (try? volume.status(of: .root, handle: nil).inode)
        else { return nil }
        return root
    }
}

extension MountTable {
    /// Has the kernel write out all dirty pages of the device.
    public func writeOut() {
        for superblock in superblocks { superblock.writeOut() }
    }

    /// Every superblock of the device, each once.
    var superblocks: [Superblock] {
        state.withLock { state in
            if let device = state.device { return [device.superblock] }
            return state.records.all.compactMap { record in
                record.session.map {
                    Superblock(
                        volume: record.volume, session: $0,
                        entrance: record.isDetached ? nil : record.mount.mountPoint)
                }
            }
        }
    }

    /// See ``Superblock/stopCaching(_:)``.
    func stopCaching(_ containers: NewlyShared, in volume: Volume) {
        if containers.isEmpty { return }
        for superblock in superblocks where superblock.volume === volume { superblock.stopCaching(containers) }
    }
}
