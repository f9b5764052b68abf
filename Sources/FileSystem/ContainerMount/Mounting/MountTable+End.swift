// Unmounting: one mount, or all of them with the daemon.

public import ContainerVolume
import FuseBridge
import Platform
public import SandboxModel
import Synchronization

extension MountTable {
    private static let endPatience = Duration.seconds(2)

    /// Ends the mount at a mount point.
    /// - Parameter lazily: out of sight at once; what is open in it works on.
    /// - Throws: ``Complaint`` of kind `notMounted`, or `inUse` unless `lazily`.
    public func unmount(_ path: String, lazily: Bool) throws(Complaint) {
        try changing { () throws(Complaint) in
            let resolved = (try? HostPath.resolved(path)) ?? path
            let found = state.withLock { state in
                state.records.values.first {
                    !$0.isDetached && ($0.mount.mountPoint == path || $0.mount.mountPoint == resolved)
                }
            }
            guard let record = found else {
                throw Complaint(
                    .notMounted, "no app is mounted at \(path); see where some are with: findmnt -t fuse.appcontainer")
            }
            // Errors of writing show up while whoever wrote may still ask for them.
            MountPoint.synchronize(record.mount.mountPoint)
            try translatingFailure { () throws(MountFailure) in
                try Session.unmount(record.mount.mountPoint, lazily: lazily)
            }
            // Somebody may see the mount from a namespace of mounts of his own: there it goes on, as after a lazy end.
            let hasEnded = !lazily && record.session?.waitUntilEnded(atMost: MountTable.endPatience) != false
            if hasEnded { finish(record.mount.serial) } else { detach(record) }
        }
    }

    /// Shows an app's home with containers that it did not have before; nothing happens while it is not mounted.
    public func show(_ home: Home) {
        guard let (volume, path) = volume(of: home.app) else { return }
        stopCaching(volume.share(home), in: volume)
        volume.show(home)
        invalidateContainers(of: home.groups.keys, home.iCloud.keys, at: path, volume)
    }

    /// Makes the kernel look again which group and iCloud containers a home shows.
    func invalidateContainers(
        of groups: some Collection<ContainerIdentifier>, _ iCloud: some Collection<ContainerIdentifier>,
        at path: [FileName], _ volume: Volume
    ) {
        func notice(_ directory: FileName, _ containers: some Collection<ContainerIdentifier>) {
            guard !containers.isEmpty else { return }
            volume.noticeChange(of: path + [directory])
            for container in containers { volume.noticeChange(of: path + [directory, container.fileName]) }
        }
        notice("Groups", groups)
        notice("iCloud", iCloud)
    }

    /// Ends every mount, whatever is in use, after everything has been written out.
    public func shutDown() {
        changing { () throws(Never) in
            let watch = state.withLock { state in
                state.hasEnded = true
                defer { state.watch = nil }
                return state.watch
            }
            watch?.stop()
            let records = state.withLock { $0.records.values.sorted { $0.mount.serial < $1.mount.serial } }
            dropAll()
            for record in records {
                if !record.isDetached {
                    if record.session != nil { MountPoint.synchronize(record.mount.mountPoint) }
                    try? Session.unmount(record.mount.mountPoint, lazily: true)
                }
                record.session?.stop()
                finish(record.mount.serial)
            }
            state.withLock { state in
                defer { state.device = nil }
                return state.device
            }?.end()
        }
    }
}
