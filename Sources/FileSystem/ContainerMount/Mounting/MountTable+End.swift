// Unmounts one mount, or all at the daemon's end; and shows containers that a mounted app gains.

public import ContainerVolume
import FuseBridge
import Platform
public import SandboxModel
import Synchronization

extension MountTable {
    /// The longest wait for the end of an unmounted session.
    private static let endPatience = Duration.seconds(2)

    /// Unmounts the app at a mount point. Its end has been reported when this returns.
    /// - Parameter lazily: out of sight at once; files open in it still work.
    /// - Throws: ``Complaint`` of kind `notMounted`, `inUse` unless `lazily`, `fuseMissing` or `unexpected`.
    public func unmount(_ path: String, lazily: Bool) throws(Complaint) {
        try changing { () throws(Complaint) in
            let resolved = ActingUser.asSuperuser { try? HostPath.resolved(path) } ?? path
            guard let record = state.withLock({ $0.records.active(at: [path, resolved]) }) else {
                // It may have ended from outside just now.
                awaitReports()
                throw Complaint(
                    .notMounted, "no app is mounted at \(path); see where some are with: findmnt -t fuse.appcontainer")
            }
            // First, so that write errors show while the writer can still get them.
            MountPoint.synchronize(record.place.current)
            try translatingFailure { () throws(MountFailure) in
                try Session.unmount(record.place, lazily: lazily)
            }
            // Another mount namespace may still show the mount: then it goes on, as after a lazy unmount.
            let hasEnded = !lazily && record.session?.waitUntilEnded(atMost: MountTable.endPatience) != false
            if hasEnded { finish(record.mount.serial) } else { detach(record) }
        }
    }

    /// Runs a body with a home that no mount shows in the volume of the whole device: files of it may be open there
    /// after a lazy unmount, and the kernel may rely on what it knows of them.
    /// - Parameter body: gets the volume, and the path of the home in it.
    /// - Returns: nil without such a volume: the daemon is an ordinary user's, or has mounted nothing yet.
    public func showing<Result>(
        _ home: Home, _ body: (Volume, [FileName]) throws(Fault) -> Result
    ) throws(Fault) -> Result? {
        try changing { () throws(Fault) in
            guard let device = state.withLock({ $0.device }) else { return nil }
            device.superblock.stopCaching(device.volume.show(home))
            defer { device.volume.hide(home.app) }
            return try body(device.volume, [home.app.fileName])
        }
    }

    /// Shows the containers that an app's home has gained. Does nothing if the app is not mounted.
    public func show(_ home: Home) {
        guard let (volume, path) = volume(of: home.app) else { return }
        stopCaching(volume.share(home), in: volume)
        volume.show(home)
        invalidateContainers(of: home.groups.keys, home.iCloud.keys, at: path, volume)
    }

    /// Has the kernel look up again which group and iCloud containers a home shows.
    func invalidateContainers(
        of groups: some Collection<ContainerIdentifier>, _ iCloud: some Collection<ContainerIdentifier>,
        at path: [FileName], _ volume: Volume
    ) {
        func notice(_ directory: FileName, _ containers: some Collection<ContainerIdentifier>) {
            guard !containers.isEmpty else { return }
            volume.noticeChange(of: path + [directory])
            for container in containers { volume.noticeChange(of: path + [directory, container.fileName]) }
        }
        notice(HomeLayout.groups, groups)
        notice(HomeLayout.iCloud, iCloud)
    }

    /// Ends every mount, in use or not, after dirty pages have been written out.
    public func shutDown() {
        changing { () throws(Never) in
            let watch = state.withLock { state in
                state.hasEnded = true
                defer { state.watch = nil }
                return state.watch
            }
            // Not under `state`, which the thread of the watch takes.
            watch?.stop()
            // Detached ones too: their sessions still serve files that are open.
            let records = state.withLock { $0.records.all }
            dropAll()
            for record in records {
                if !record.isDetached {
                    if record.session != nil { MountPoint.synchronize(record.mount.mountPoint) }
                    try? Session.unmount(record.place, lazily: true)
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
