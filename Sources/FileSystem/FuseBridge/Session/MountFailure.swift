// The error of a failed mount, and the checks before mounting that explain a failure better than errno does.

import Glibc
import Platform
import SandboxModel

/// A mount or an unmount that failed.
public struct MountFailure: Error, Sendable {
    public enum Kind: Sendable {
        /// /dev/fuse or fusermount3 is missing or not accessible.
        case unavailable
        /// The host's configuration does not allow the mount.
        case configuration
        /// The directory is no mount point.
        case mountPoint
        /// The mount is in use.
        case busy
        /// Any other refusal by the kernel.
        case refused
    }

    public let kind: Kind
    /// One line for the user: the problem and its remedy.
    public let message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The failure of a system call, of kind `refused`.
    /// - Parameters:
    ///   - doing: the action that failed.
    ///   - code: an errno.
    static func system(_ doing: String, _ code: Int32) -> MountFailure {
        MountFailure(.refused, "\(doing): \(unsafe String(cString: strerror(code)))")
    }
}

/// Checks before a mount is tried, because the errors of the kernel and of fusermount3 do not say what to do.
enum Preconditions {
    static let device = "/dev/fuse"

    /// - Parameter privileged: whether this process may call mount(2).
    /// - Throws: ``MountFailure`` of kind `mountPoint`, `unavailable` or `configuration`.
    static func check(at path: String, privileged: Bool, otherUsers: Bool) throws(MountFailure) {
        try checkDirectory(path)
        try checkDevice(privileged: privileged)
        guard !privileged else { return }
        guard helper() != nil else {
            throw MountFailure(
                .unavailable, "fusermount3 is missing, and only root can mount without it: install the package fuse3")
        }
        // Checked first, because without it only root could unmount again.
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
            status = try ActingUser.asSuperuser { () throws(SystemError) in try HostPath.status(path) }
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

    /// fusermount3 opens the device with the caller's rights, so the caller must be able to open it.
    private static func checkDevice(privileged: Bool) throws(MountFailure) {
        do throws(SystemError) {
            _ = try ActingUser.asSuperuser { () throws(SystemError) in
                try Descriptor.open(path: device, flags: O_RDWR)
            }
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

    /// The path of fusermount3; nil if there is none. The usual folders come before those of PATH.
    static func helper() -> String? {
        let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""
        let directories = ["/usr/bin", "/bin", "/usr/local/bin"] + path.split(separator: ":").map(String.init)
        return directories.map { $0 + "/fusermount3" }.first { unsafe access($0, X_OK) == 0 }
    }

    /// Whether /etc/fuse.conf has `user_allow_other`, without which fusermount3 refuses `allow_other` (mount.fuse3(8)).
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
