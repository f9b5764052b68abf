// An app that is updated while it is mounted, or while something is open in a mount of it that was ended lazily.

public import ContainerVolume
import FuseBridge
public import SandboxModel
import Synchronization

extension MountTable {
    /// An update that a volume shows.
    public struct ShownUpdate: Sendable {
        fileprivate let volume: Volume
        fileprivate let session: Session
        fileprivate let replaced: Volume.Replaced

        /// Waits until the kernel has forgotten what was replaced, as far as nobody uses it, and settles the rest. Called
        /// with no lock held that a request takes, before the host's files are removed.
        public func settle() {
            session.notifications.drain()
            volume.settle(replaced)
            session.notifications.drain()
        }

        /// To be called for a file of what was dropped that has no name elsewhere.
        /// - Returns: whether it is open, and will be counted for nothing when it is closed.
        public func noteRemoval(ofInode inode: UInt64) -> Bool { volume.noteRemoval(ofInode: inode) }
    }

    /// Shows an app's home as an update leaves it, wherever the kernel may know it.
    ///
    /// - Parameter exchange: puts the new `tmp` and metadata into their places; it is called once in any case.
    /// - Returns: nil when nobody can know the app's home.
    public func update(
        _ update: HomeUpdate, _ exchange: () throws(SystemError) -> Void
    ) throws(SystemError) -> ShownUpdate? {
        guard let (volume, session) = superblock(of: update.app) else {
            try exchange()
            return nil
        }
        stopCaching(volume.share(update), in: volume)
        let replaced = try volume.update(update, exchange)
        state.withLock { state in
            for (serial, record) in state.records where record.mount.app == update.app {
                state.records[serial]!.home = record.home.updated(update)
            }
        }
        if let (_, path) = self.volume(of: update.app) {
            invalidateContainers(of: update.groups.keys, update.iCloud.keys, at: path, volume)
        }
        return ShownUpdate(volume: volume, session: session, replaced: replaced)
    }

    /// The one that may show an app, or has something of it open: the device's, where there is one, mounted or not.
    private func superblock(of app: ContainerIdentifier) -> (Volume, Session)? {
        state.withLock { state in
            if let device = state.device { return (device.volume, device.session) }
            return state.records.values.first { $0.mount.app == app }.flatMap { record in
                record.session.map { (record.volume, $0) }
            }
        }
    }
}
