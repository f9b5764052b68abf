// Finds and checks a mount point, and removes abandoned mounts.

import BackingStore
import FuseBridge
import Glibc
import Platform
import SandboxModel

enum MountPoint {
    /// The type as findmnt(8) shows it: the kernel puts `fuse.` before the subtype.
    static let subtype = "appcontainer"
    static let type = "fuse.appcontainer"

    /// Finds a directory to mount at, and removes mounts there whose daemon has died.
    /// - Throws: ``Complaint`` of kind `mountPoint` or `alreadyMounted`.
    static func prepare(_ path: String) throws(Complaint) -> MountPlace {
        // Each turn removes one dead mount. Other programs make more as fast only on purpose.
        for _ in 0..<16 {
            let place = try find(path)
            guard let there = place.mount(), there.type == type else { return place }
            guard HostMount.isAbandoned(place.current) else {
                throw Complaint(.alreadyMounted, "\(place.path) already shows \(there.source): unmount it first")
            }
            guard (try? Session.unmount(place, lazily: true)) != nil else { break }
        }
        throw Complaint(
            .mountPoint, "\(path) is a mount whose server has died: unmount it as the user who made it")
    }

    private static func find(_ path: String) throws(Complaint) -> MountPlace {
        guard !path.isEmpty else {
            throw Complaint(.mountPoint, "an empty path is no mount point: name a directory to mount at")
        }
        do throws(SystemError) {
            return try MountPlace(path)
        } catch {
            let flaw =
                switch error.code {
                case ENOENT: "\(path) does not exist: make the directory first"
                case ENOTDIR: "\(path) is not a directory: name a directory to mount at"
                case EBUSY: "\(path) is the root directory: name a directory of your own"
                case ESTALE: "\(path) was moved at this moment: try again"
                default: "\(path): \(error.message)"
                }
            throw Complaint(.mountPoint, flaw)
        }
    }

    /// Refuses a mount point whose mount would hide a device, this one or another, or the daemon's socket. Asks by
    /// descriptors, so that the answer holds for the directory that is mounted at.
    /// - Parameters:
    ///   - device: the path of the device that is mounted.
    ///   - runtimeDirectory: the directory of the daemon's socket.
    ///   - homesDirectory: a directory in it where mounts are allowed.
    /// - Throws: ``Complaint`` of kind `mountPoint`.
    static func requireHarmless(
        _ place: MountPlace, device: String, runtimeDirectory: String, homesDirectory: String
    ) throws(Complaint) {
        let path = place.path
        if let around = lies(place, in: device) ? device : deviceAround(place) {
            throw Complaint(
                .mountPoint, "\(path) is in the device \(around), which the mount would hide: name a directory outside"
            )
        }
        if holds(place, device) {
            throw Complaint(
                .mountPoint, "\(path) holds the device \(device), which the mount would hide: name another directory")
        }
        if holds(place, runtimeDirectory) || lies(place, in: runtimeDirectory) && !lies(place, in: homesDirectory) {
            throw Complaint(
                .mountPoint,
                "the mount would hide \(runtimeDirectory), where the control socket is: name another directory")
        }
        if place.filesystemType == "proc" {
            throw Complaint(.mountPoint, "\(path) is the kernel's (proc): name a directory of your own")
        }
    }

    /// The device that a place lies in, by the path that the place has now.
    private static func deviceAround(_ place: MountPlace) -> String? {
        var around: String?
        try? place.ascend { (directory) throws(SystemError) in
            guard try DeviceDirectory.isDevice(directory) else { return true }
            around = try? HostPath.symbolicLinkTarget("/proc/self/fd/\(directory.number)")
            return false
        }
        return around
    }

    /// Whether a place is a directory, or lies below it. An error means that it does not: the daemon can reach its own
    /// directories.
    private static func lies(_ place: MountPlace, in directory: String) -> Bool {
        var isFound = false
        let wanted = ActingUser.asSuperuser { try? HostPath.status(directory).identity }
        try? place.ascend { (above) throws(SystemError) in
            isFound = try above.status().identity == wanted
            return !isFound
        }
        return isFound
    }

    /// Whether a directory is a place, or lies below it.
    private static func holds(_ place: MountPlace, _ directory: String) -> Bool {
        var wanted: FileStatus.Identity?
        try? place.ascend { (itself) throws(SystemError) in
            wanted = try itself.status().identity
            return false
        }
        guard let wanted else { return false }
        return ActingUser.asSuperuser { (try? HostPath.holds(wanted, directory)) ?? false }
    }

    /// Unmounts what a killed daemon of the device left, wherever it is.
    static func removeAbandoned(of device: String) {
        // The last first: a mount may lie in another.
        for mount in ((try? MountInfo.all(from: device + ":")) ?? []).reversed()
        where mount.type == type && HostMount.isAbandoned(mount.mountPoint) {
            try? remove(mount.mountPoint) { $0.source == mount.source }
        }
    }

    /// Unmounts the topmost mount at a path lazily, if it is one of this program that `isMeant`.
    /// - Throws: ``MountFailure``.
    static func remove(_ path: String, where isMeant: (MountInfo) -> Bool = { _ in true }) throws(MountFailure) {
        let place: MountPlace
        do throws(SystemError) {
            place = try MountPlace(path)
        } catch {
            throw MountFailure(.refused, "\(path) cannot be unmounted: \(error.message)")
        }
        guard let there = place.mount(), there.type == type, isMeant(there) else {
            throw MountFailure(.refused, "\(path) cannot be unmounted: no app's home is mounted there")
        }
        try Session.unmount(place, lazily: true)
    }

    /// Calls syncfs(2) for the filesystem at a path. Errors are ignored.
    static func synchronize(_ path: String) {
        guard let directory = try? open(path) else { return }
        try? directory.descriptor.synchronizeFilesystem()
    }

    /// Opens the root of a mount, which may lie where the superuser alone can go.
    static func open(_ path: String) throws(SystemError) -> SharedDescriptor {
        try ActingUser.asSuperuser { () throws(SystemError) in
            SharedDescriptor(try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY))
        }
    }
}
