// The one mount of a whole device, made by a privileged daemon in a private place. Each app's home is bound from it.

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel

/// The superblock of a device, from the first app's mount to the end of the daemon. All binds share it, and so the
/// locks, mappings and cached pages of a file.
final class DeviceMount: Sendable {
    let volume: Volume
    let session: Session
    private let directory: String
    private let device: String
    private let mounted: VolumeFileSystem

    /// The mount point of the whole device.
    private var whole: String { directory + "/device" }
    /// The mount point from which a home is bound.
    private var stage: String { directory + "/stage" }

    /// Mounts the device.
    /// - Parameters:
    ///   - device: the device directory's path, for the source that findmnt(8) shows.
    ///   - directory: made here, with mode 0700. Its parent must be accessible to root only.
    ///   - transport: of all homes that are bound from here.
    /// - Throws: ``Complaint`` of kind `fuseConfiguration`, `fuseMissing`, `mountPoint` or `unexpected`.
    init(
        device: String, directory: String, volume: Volume, transport: TransportChoice, events: MountEvents
    ) throws(Complaint) {
        self.device = device
        self.directory = directory
        self.volume = volume
        mounted = VolumeFileSystem(volume, events: events)
        try DeviceMount.prepare(directory)
        var options = Session.Options(source: device + ":", subtype: MountPoint.subtype, otherUsers: true)
        options.transport = transport
        options.replyDropped = events.dropped
        options.failed = events.failed
        do throws(Complaint) {
            let (mounted, whole, options) = (mounted, directory + "/device", options)
            session = try translatingFailure { () throws(MountFailure) in
                try Session.mount(mounted, at: whole, options: options)
            }
        } catch {
            DeviceMount.remove(directory)
            throw error
        }
        mounted.attach(session)
        mounted.followMoves(through: whole)
        readAhead(asFarAs: device)
        superblock.boundDirtyPages()
    }

    /// Raises read-ahead to that of the host's filesystem, so that more of a long file is decrypted while its reader
    /// copies. ``farthestKibibytes`` bounds the wait of a page fault in a mapping.
    private func readAhead(asFarAs host: String) {
        guard let theirs = ReadAhead.kibibytes(ofFilesystemAt: host),
            let ours = ReadAhead.kibibytes(ofFilesystemAt: whole)
        else { return }
        let wanted = min(theirs, DeviceMount.farthestKibibytes)
        if wanted > ours { ReadAhead.setKibibytes(wanted, ofFilesystemAt: whole) }
    }

    /// The limit of read-ahead, in KiB.
    private static let farthestKibibytes = 512

    /// Makes the directory with its two mount points, after removing what a killed daemon left.
    /// - Throws: ``Complaint`` of kind `fuseConfiguration` or `unexpected`.
    private static func prepare(_ directory: String) throws(Complaint) {
        remove(directory)
        do throws(SystemError) {
            for path in [directory, directory + "/device", directory + "/stage"] { try HostDirectory.make(path) }
            // Bound to itself and made private, so that mounts inside appear in no other mount namespace.
            try HostMount.bind(directory, at: directory)
            try HostMount.makePrivate(directory)
        } catch {
            remove(directory)
            throw Complaint(
                error == .notPermitted ? .fuseConfiguration : .unexpected,
                error == .notPermitted
                    ? "this process may not mount: in a container, give it --cap-add SYS_ADMIN --device /dev/fuse"
                    : "\(directory) cannot be prepared: \(error.message)")
        }
    }

    /// Unmounts everything at or below the directory, the last mount first, and removes the directory.
    static func remove(_ directory: String) {
        // The list of mounts is long where there are many devices.
        guard HostPath.mayExist(directory) else { return }
        for mount in ((try? MountInfo.all(at: directory)) ?? []).reversed()
        where HostPath.rest(of: mount.mountPoint, in: directory) != nil {
            try? HostMount.unmount(mount.mountPoint, .lazily)
        }
        for path in [directory + "/device", directory + "/stage", directory] { try? HostDirectory.remove(path) }
    }

    /// Binds an app's home to a mount point.
    /// - Throws: ``Complaint`` of kind `mountPoint`.
    func bind(_ home: Home, at place: MountPlace, readOnly: Bool) throws(Complaint) {
        superblock.stopCaching(volume.show(home))
        // The kernel may have cached an earlier home of this name.
        session.notifications.forgetEntry(Array(home.app.fileName.bytes), in: .root)
        // An earlier mount, still in use, may have left listings in the kernel's cache.
        for directory in PurgeableDirectory.allCases {
            volume.noticeChange(of: [home.app.fileName] + directory.path + [CacheDirectoryTag.name])
        }
        session.notifications.drain()
        do throws(SystemError) {
            // Bound from a second mount of the superblock, because a bind keeps the source name of its origin.
            try session.mountAgain(source: "\(device):\(home.app)", at: stage)
            defer { try? HostMount.unmount(stage, .lazily) }
            // First, because mount(2) ignores MS_RDONLY beside MS_BIND, and a bind has the flags of its origin.
            if readOnly { try HostMount.makeReadOnly(stage) }
            try HostMount.bind("\(stage)/\(home.app)", at: place)
        } catch {
            volume.hide(home.app)
            throw Complaint(.mountPoint, "\(home.app) cannot be mounted at \(place.path): \(error.message)")
        }
    }

    /// Refuses a transport that the homes bound from here cannot have.
    /// - Parameter choice: nil for any.
    /// - Throws: ``Complaint`` of kind `fuseConfiguration`.
    func requireTransport(_ choice: TransportChoice?) throws(Complaint) {
        guard let choice, !choice.admits(session.transport) else { return }
        throw Complaint(
            .fuseConfiguration,
            "root's mounts of \(device) share one connection, which is over \(session.transport.rawValue): leave "
                + "--transport out, or shut the device down first")
    }

    var superblock: Superblock { Superblock(volume: volume, session: session, entrance: whole) }

    /// Has the kernel write out the superblock's dirty pages (syncfs(2)).
    func synchronize() {
        MountPoint.synchronize(whole)
    }

    /// Ends the superblock. Calls on files still open then fail with ENOTCONN.
    func end() {
        synchronize()
        try? HostMount.unmount(whole, .lazily)
        session.stop()
        DeviceMount.remove(directory)
    }
}
