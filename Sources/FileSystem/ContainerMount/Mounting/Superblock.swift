// One superblock of the kernel: a volume, the session that serves it, and a way into it.

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel
import Synchronization

struct Superblock: Sendable {
    let volume: Volume
    let session: Session
    /// A directory through which the daemon itself reaches the mount's root; nil once it is out of sight.
    let entrance: String?

    /// Has the kernel write out everything that it holds, many pages at a time.
    func writeOut() {
        if let entrance { MountPoint.synchronize(entrance) }
    }

    /// Has the kernel rely on nothing that it knows of containers which come to be shared. Never from a request.
    func stopCaching(_ containers: Volume.NewlyShared) {
        if containers.isEmpty { return }
        // What was answered before is with the kernel after this.
        session.quiesce()
        volume.forget(containers)
        session.notifications.drain()
        volume.expire(containers)
        session.notifications.drain()
    }

    /// - Returns: nil where something else is seen at the entrance.
    func openRoot() -> SharedDescriptor? {
        guard let entrance, let root = try? Descriptor.open(path: entrance, flags: O_RDONLY | O_DIRECTORY),
            let inode = try? root.status().inode, inode == (try? volume.status(of: .root, handle: nil).inode)
        else { return nil }
        return SharedDescriptor(root)
    }
}

extension MountTable {
    /// Has the kernel write out everything that it holds of the device.
    public func writeOut() {
        for superblock in superblocks { superblock.writeOut() }
    }

    /// Every superblock of the device, each once.
    var superblocks: [Superblock] {
        state.withLock { state in
            if let device = state.device { return [device.superblock] }
            return state.records.values.compactMap { record in
                record.session.map {
                    Superblock(
                        volume: record.volume, session: $0,
                        entrance: record.isDetached ? nil : record.mount.mountPoint)
                }
            }
        }
    }

    /// See ``Superblock/stopCaching(_:)``.
    func stopCaching(_ containers: Volume.NewlyShared, in volume: Volume) {
        if containers.isEmpty { return }
        for superblock in superblocks where superblock.volume === volume { superblock.stopCaching(containers) }
    }
}
