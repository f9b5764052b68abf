// Shows an app's update in its mount, or in a lazily unmounted one that is still in use.

public import ContainerVolume
import FuseBridge
public import SandboxModel
import Synchronization

extension MountTable {
    /// An update that a volume shows, to be completed by ``complete()``.
    public struct ShownUpdate: Sendable {
        fileprivate let volume: Volume
        fileprivate let session: Session
        fileprivate let replaced: Volume.Replaced

        /// Waits until the kernel has forgotten what was replaced and is not in use, and completes the rest. Call it
        /// before the host's files are removed, with no lock held that a request takes.
        public func complete() {
            session.notifications.drain()
            volume.release(replaced)
            session.notifications.drain()
        }

        /// Records that a dropped file has no name left.
        /// - Returns: whether it is open, so that its space is subtracted when it is closed.
        public func recordRemoval(ofInode inode: UInt64) -> Bool { volume.recordRemoval(ofInode: inode) }
    }

    /// Shows an app's home as it is after an update, wherever the kernel may have it cached.
    ///
    /// - Parameter exchange: puts the new `tmp` and metadata into place. Called exactly once.
    /// - Returns: nil if no superblock shows the app's home.
    /// - Throws: errors of the host, and of `exchange`.
    public func update(
        _ update: HomeUpdate, _ exchange: () throws(SystemError) -> Void
    ) throws(SystemError) -> ShownUpdate? {
        guard let (volume, session) = superblock(of: update.app) else {
            try exchange()
            return nil
        }
        stopCaching(volume.share(update), in: volume)
        let replaced = try volume.update(update, exchange)
        state.withLock { $0.records.update(update) }
        if let (_, path) = self.volume(of: update.app) {
            invalidateContainers(of: update.groups.keys, update.iCloud.keys, at: path, volume)
        }
        return ShownUpdate(volume: volume, session: session, replaced: replaced)
    }

    /// The superblock that may show an app or have its files open: the device's, if there is one, mounted or not.
    private func superblock(of app: ContainerIdentifier) -> (Volume, Session)? {
        state.withLock { state in
            if let device = state.device { return (device.volume, device.session) }
            return state.records.record(of: app).flatMap { record in
                record.session.map { (record.volume, $0) }
            }
        }
    }
}
