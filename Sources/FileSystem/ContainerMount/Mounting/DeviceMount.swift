// The one mount of a device that a privileged daemon makes: out of everybody's sight, each app's home bound from it.

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel

/// The superblock of a device. It lasts from the first app's mount to the end of the daemon, so that locks, mappings
/// and cached pages are the same in whatever mount a file is seen.
final class DeviceMount: Sendable {
    let volume: Volume
    let session: Session
    private let directory: String
    private let device: String
    private let mounted: VolumeFileSystem

    private var whole: String { directory + "/device" }
    /// Where a mount is while it is being made.
    private var stage: String { directory + "/stage" }

    /// - Parameters:
    ///   - device: the device directory, for the source that `findmnt` shows.
    ///   - directory: made here, with mode 0700; its parent is only root's.
    init(device: String, directory: String, volume: Volume, events: MountEvents) throws(Complaint) {
        self.device = device
        self.directory = directory
        self.volume = volume
        mounted = VolumeFileSystem(volume, events: events)
        try DeviceMount.prepare(directory)
        let options = Session.Options(source: device + ":", subtype: MountPoint.subtype, otherUsers: true)
        do throws(Complaint) {
            let (mounted, whole) = (mounted, directory + "/device")
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

    /// Reads ahead as far as the host does, where its owner has had it read farther than the kernel does by itself:
    /// more of a long file is then deciphered while its reader copies. A fault of a mapping waits for no more than
    /// ``farthestKibibytes``.
    private func readAhead(asFarAs host: String) {
        guard let theirs = ReadAhead.kibibytes(ofFilesystemAt: host),
            let ours = ReadAhead.kibibytes(ofFilesystemAt: whole)
        else { return }
        let wanted = min(theirs, DeviceMount.farthestKibibytes)
        if wanted > ours { ReadAhead.setKibibytes(wanted, ofFilesystemAt: whole) }
    }

    private static let farthestKibibytes = 512

    private static func prepare(_ directory: String) throws(Complaint) {
        remove(directory)
        do throws(SystemError) {
            for path in [directory, directory + "/device", directory + "/stage"] { try HostDirectory.make(path) }
            // Bound to itself and made private: what is mounted inside shows up in no other mount namespace.
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

    /// Takes everything away that is mounted at or below the directory, the last one made first, and the directory.
    static func remove(_ directory: String) {
        for mount in ((try? MountInfo.all()) ?? []).reversed()
        where mount.mountPoint == directory || mount.mountPoint.hasPrefix(directory + "/") {
            try? HostMount.unmount(mount.mountPoint, .lazily)
        }
        for path in [directory + "/device", directory + "/stage", directory] { try? HostDirectory.remove(path) }
    }

    /// Binds an app's home.
    func bind(_ home: Home, at place: String, readOnly: Bool) throws(Complaint) {
        superblock.stopCaching(volume.show(home))
        // The home may be another than the one that the kernel last saw under this name.
        session.notifications.forgetEntry(Array(home.app.fileName.bytes), in: .root)
        // What is still in use of an earlier mount may be listed from the kernel's memory.
        for directory in PurgeableDirectory.allCases {
            volume.noticeChange(of: [home.app.fileName] + directory.path + [CacheDirectoryTag.name])
        }
        session.notifications.drain()
        do throws(SystemError) {
            // A second mount of the same superblock, for its source: a bind keeps the source of what it binds.
            try session.mountAgain(source: "\(device):\(home.app)", at: stage)
            defer { try? HostMount.unmount(stage, .lazily) }
            try HostMount.bind("\(stage)/\(home.app)", at: place)
            if readOnly {
                do throws(SystemError) {
                    try HostMount.makeReadOnly(place)
                } catch {
                    try? HostMount.unmount(place, .lazily)
                    throw error
                }
            }
        } catch {
            volume.hide(home.app)
            throw Complaint(.mountPoint, "\(home.app) cannot be mounted at \(place): \(error.message)")
        }
    }

    var superblock: Superblock { Superblock(volume: volume, session: session, entrance: whole) }

    /// Writes out what the kernel holds.
    func synchronize() {
        MountPoint.synchronize(whole)
    }

    /// Ends the superblock. What is still open in it answers ENOTCONN from then on.
    func end() {
        synchronize()
        try? HostMount.unmount(whole, .lazily)
        session.stop()
        DeviceMount.remove(directory)
    }
}
