// Checks of a mount point, and the removal of abandoned mounts.

import BackingStore
import FuseBridge
import Glibc
import Platform
import SandboxModel

enum MountPoint {
    /// The type as findmnt(8) shows it: the kernel puts `fuse.` before the subtype.
    static let subtype = "appcontainer"
    static let type = "fuse.appcontainer"

    /// Resolves a directory to mount at, and removes mounts there whose daemon has died.
    /// - Returns: the path as /proc/self/mountinfo will show it.
    /// - Throws: ``Complaint`` of kind `mountPoint` or `alreadyMounted`.
    static func prepare(_ path: String) throws(Complaint) -> String {
        // Each turn removes one dead mount. Other programs make more as fast only on purpose.
        for _ in 0..<16 {
            guard let place = try resolve(path) else { continue }
            guard let there = (try? MountInfo.all())?.last(where: { $0.mountPoint == place }), there.type == type else {
                return place
            }
            guard HostMount.isAbandoned(place) else {
                throw Complaint(.alreadyMounted, "\(place) already shows \(there.source): unmount it first")
            }
            guard removeDead(at: place) else { break }
        }
        throw Complaint(
            .mountPoint, "\(path) is a mount whose server has died: unmount it as the user who made it")
    }

    /// Refuses a mount point whose mount would hide a device, this one or another, or the daemon's socket.
    /// - Parameters:
    ///   - place: as ``prepare(_:)`` returns it.
    ///   - runtimeDirectory: the directory of the daemon's socket.
    ///   - homesDirectory: a directory in it where mounts are allowed.
    /// - Throws: ``Complaint`` of kind `mountPoint`.
    static func requireHarmless(
        _ place: String, device: String, runtimeDirectory: String, homesDirectory: String
    ) throws(Complaint) {
        // An error means that the path is none of these directories: the daemon can reach its own.
        func holds(_ directory: String, _ path: String) -> Bool { (try? HostPath.holds(directory, path)) ?? false }
        let around = holds(device, place) ? device : DeviceDirectory.around(place)
        if let around {
            throw Complaint(
                .mountPoint, "\(place) is in the device \(around), which the mount would hide: name a directory outside"
            )
        }
        if holds(place, device) {
            throw Complaint(
                .mountPoint, "\(place) holds the device \(device), which the mount would hide: name another directory")
        }
        if holds(place, runtimeDirectory) || holds(runtimeDirectory, place) && !holds(homesDirectory, place) {
            throw Complaint(
                .mountPoint,
                "the mount would hide \(runtimeDirectory), where the control socket is: name another directory")
        }
        let directory = try? Descriptor.open(path: place, flags: O_RDONLY | O_DIRECTORY)
        if let directory, HostProbe.filesystemType(of: directory) == "proc" {
            throw Complaint(.mountPoint, "\(place) is the kernel's (proc): name a directory of your own")
        }
    }

    /// - Returns: nil if a dead mount was in the way and has been removed.
    private static func resolve(_ path: String) throws(Complaint) -> String? {
        guard !path.isEmpty else {
            throw Complaint(.mountPoint, "an empty path is no mount point: name a directory to mount at")
        }
        do throws(SystemError) {
            if try HostPath.status(path).kind == .directory { return try HostPath.resolved(path) }
        } catch {
            switch error.code {
            case ENOTCONN where removeDead(at: path): return nil
            case ENOENT: throw Complaint(.mountPoint, "\(path) does not exist: make the directory first")
            default: throw Complaint(.mountPoint, "\(path): \(error.message)")
            }
        }
        throw Complaint(.mountPoint, "\(path) is not a directory: name a directory to mount at")
    }

    /// Unmounts the topmost mount at a path if it is one of this program. The caller has found that it does not answer.
    /// - Returns: whether it is unmounted.
    private static func removeDead(at path: String) -> Bool {
        guard let place = placeOfDead(path), let mounts = try? MountInfo.all(),
            mounts.last(where: { $0.mountPoint == place })?.type == type
        else { return false }
        return (try? Session.unmount(place, lazily: true)) != nil
    }

    /// The resolved path of a dead mount. Calls on it fail, so its parent is resolved instead.
    private static func placeOfDead(_ path: String) -> String? {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/") else { return nil }
        let parent = slash == path.startIndex ? "/" : String(path[..<slash])
        guard let above = try? HostPath.resolved(parent) else { return nil }
        return (above == "/" ? "" : above) + path[slash...]
    }

    /// Unmounts what a killed daemon of the device left, wherever it is.
    static func removeAbandoned(of device: String) {
        // The last first: a mount may lie in another.
        for mount in ((try? MountInfo.all()) ?? []).reversed()
        where mount.type == type && mount.source.hasPrefix(device + ":") && HostMount.isAbandoned(mount.mountPoint) {
            try? Session.unmount(mount.mountPoint, lazily: true)
        }
    }

    /// Calls syncfs(2) for the filesystem at a path. Errors are ignored.
    static func synchronize(_ path: String) {
        guard let directory = try? Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY) else { return }
        try? directory.synchronizeFilesystem()
    }
}
