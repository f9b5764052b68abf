// Mounts of the host: the calls of mount(2), for a process that may make them.

import CPlatform
import Glibc
public import SandboxModel

public enum HostMount {
    /// A new mount. Programs on it gain no privileges (MS_NOSUID) and device nodes mean nothing (MS_NODEV).
    public static func mount(
        source: String, at path: String, type: String, options: String
    ) throws(SystemError) {
        try systemCall {
            unsafe Glibc.mount(source, path, type, UInt(MS_NOSUID | MS_NODEV), options)
        }
    }

    /// Shows a directory of a mount at another path as well.
    public static func bind(_ source: String, at path: String) throws(SystemError) {
        try systemCall { unsafe Glibc.mount(source, path, nil, UInt(MS_BIND), nil) }
    }

    /// Makes one bind read-only, whatever the others of the same filesystem are.
    public static func makeReadOnly(_ path: String) throws(SystemError) {
        let flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV
        try systemCall { unsafe Glibc.mount(nil, path, nil, UInt(flags), nil) }
    }

    /// Keeps mounts below this path out of other mount namespaces, and theirs out of here.
    public static func makePrivate(_ path: String) throws(SystemError) {
        try systemCall { unsafe Glibc.mount(nil, path, nil, UInt(MS_PRIVATE), nil) }
    }

    /// Whether what is mounted at a path has lost the process that serves it (ENOTCONN).
    ///
    /// The kernel goes on answering what it remembers, attributes for one; the filesystem's figures it never remembers.
    public static func isAbandoned(_ path: String) -> Bool {
        var figures = statvfs()
        return unsafe statvfs(path, &figures) == -1 && errno == ENOTCONN
    }

    public enum Removal: Sendable {
        /// EBUSY while anybody uses it.
        case whenIdle
        /// Out of sight at once, gone when nobody uses it any more.
        case lazily
        /// Out of sight at once, and every request under way is broken off.
        case byForce
    }

    /// Takes the topmost mount at the path away.
    public static func unmount(_ path: String, _ removal: Removal = .whenIdle) throws(SystemError) {
        let flags =
            switch removal {
            case .whenIdle: UMOUNT_NOFOLLOW
            case .lazily: UMOUNT_NOFOLLOW | MNT_DETACH
            case .byForce: UMOUNT_NOFOLLOW | MNT_DETACH | MNT_FORCE
            }
        try systemCall { unsafe umount2(path, Int32(flags)) }
    }
}
