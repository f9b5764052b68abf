// Why a filesystem could not be mounted, in words for the person who asked.

import Glibc
import Platform
import SandboxModel

public struct MountFailure: Error, Sendable {
    public enum Kind: Sendable {
        /// There is no FUSE to talk to: the device or the helper program is missing or out of reach.
        case unavailable
        /// The host's configuration does not allow what was asked.
        case configuration
        /// The directory to mount at.
        case mountPoint
        /// Somebody uses the mount.
        case busy
        /// The kernel refused for another reason.
        case refused
    }

    public let kind: Kind
    /// One line that says what is wrong and what to do.
    public let message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    static func system(_ doing: String, _ code: Int32) -> MountFailure {
        MountFailure(.refused, "\(doing): \(unsafe String(cString: strerror(code)))")
    }
}

/// What must be there before a mount is tried: the kernel's and the helper's own words come too late and too short.
enum Preconditions {
    static let device = "/dev/fuse"

    /// - Parameter privileged: may this process mount by itself?
    static func check(at path: String, privileged: Bool, otherUsers: Bool) throws(MountFailure) {
        try checkDirectory(path)
        try checkDevice(privileged: privileged)
        guard !privileged else { return }
        guard helper() != nil else {
            throw MountFailure(
                .unavailable, "fusermount3 is missing, and only root can mount without it: install the package fuse3")
        }
        // Seen before anything is mounted, because without it nobody but root could take the mount away again.
        guard unsafe access("/etc/mtab", R_OK) == 0 else {
            throw MountFailure(
                .configuration,
                "/etc/mtab is missing, without which fusermount3 does not unmount: ask root for "
                    + "ln -s /proc/self/mounts /etc/mtab")
        }
        if otherUsers, !allowsOtherUsers() {
            throw MountFailure(
                .configuration,
                "/etc/fuse.conf does not have a line user_allow_other: ask root to add it, or leave --allow-other out")
        }
    }

    private static func checkDirectory(_ path: String) throws(MountFailure) {
        let status: FileStatus
        do throws(SystemError) {
            status = try HostPath.status(path)
        } catch {
            throw MountFailure(
                .mountPoint,
                error == .noEntry
                    ? "\(path) does not exist: make the directory first" : "\(path): \(error.message)")
        }
        guard status.kind == .directory else {
            throw MountFailure(.mountPoint, "\(path) is not a directory: name a directory to mount at")
        }
    }

    /// The helper opens the device with the caller's rights, so an ordinary user must be able to as well.
    private static func checkDevice(privileged: Bool) throws(MountFailure) {
        do throws(SystemError) {
            _ = try Descriptor.open(path: device, flags: O_RDWR)
        } catch {
            switch error.code {
            case ENOENT, ENODEV, ENXIO:
                throw MountFailure(
                    .unavailable,
                    "\(device) is missing: load the kernel's fuse module, or give the container --device \(device)")
            case EACCES, EPERM:
                throw MountFailure(
                    .unavailable,
                    privileged
                        ? "\(device) may not be opened: give the container --device \(device)"
                        : "\(device) may not be opened by this user: ask root for chmod 666 \(device)")
            default:
                throw MountFailure(.unavailable, "\(device): \(error.message)")
            }
        }
    }

    /// The path of the set-user-ID program that mounts for ordinary users.
    static func helper() -> String? {
        let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""
        let directories = ["/usr/bin", "/bin", "/usr/local/bin"] + path.split(separator: ":").map(String.init)
        return directories.map { $0 + "/fusermount3" }.first { unsafe access($0, X_OK) == 0 }
    }

    private static func allowsOtherUsers() -> Bool {
        guard let file = unsafe fopen("/etc/fuse.conf", "re") else { return false }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 4096)
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            let text = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            let words = text.split { [9, 10, 13, 32].contains($0) }
            if words.first.map({ Array($0) == Array("user_allow_other".utf8) }) == true { return true }
        }
        return false
    }
}
