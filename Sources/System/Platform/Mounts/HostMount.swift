// mount(2) and umount2(2), for a process with CAP_SYS_ADMIN.

import CPlatform
import Glibc
public import SandboxModel

/// Mounting and unmounting throw EPERM without CAP_SYS_ADMIN. Every call is the superuser's (``ActingUser``).
public enum HostMount {
    /// `mount(2)` with `MS_NOSUID | MS_NODEV`.
    public static func mount(
        source: String, at path: String, type: String, options: String
    ) throws(SystemError) {
        try ActingUser.asSuperuser { () throws(SystemError) in
            try systemCall {
                unsafe Glibc.mount(source, path, type, UInt(MS_NOSUID | MS_NODEV), options)
            }
        }
    }

    /// A filesystem in memory, for a few small files of everybody's.
    public static func mountMemory(at path: String) throws(SystemError) {
        try mount(source: "none", at: path, type: "tmpfs", options: "size=16k,nr_inodes=4,mode=755")
    }

    /// Makes a filesystem in memory read-only, at all its mounts.
    /// - Throws: EBUSY while a file is open for writing.
    public static func makeMemoryReadOnly(_ path: String) throws(SystemError) {
        let flags = MS_REMOUNT | MS_NOSUID | MS_NODEV | MS_RDONLY
        try ActingUser.asSuperuser { () throws(SystemError) in
            try systemCall { unsafe Glibc.mount(nil, path, nil, UInt(flags), nil) }
        }
    }

    /// `statvfs(3)`: whether nothing at the path can be written to.
    public static func isReadOnly(_ path: String) -> Bool {
        ActingUser.asSuperuser {
            var figures = statvfs()
            return unsafe statvfs(path, &figures) == 0 && figures.f_flag & UInt(ST_RDONLY) != 0
        }
    }

    /// `mount(2)` with `MS_BIND`.
    /// Mounts below `source` are not part of the bind (no `MS_REC`).
    public static func bind(_ source: String, at path: String) throws(SystemError) {
        try ActingUser.asSuperuser { () throws(SystemError) in
            try systemCall { unsafe Glibc.mount(source, path, nil, UInt(MS_BIND), nil) }
        }
    }

    /// `mount(2)` with `MS_BIND`, at the very directory that was found, whatever lies at its path now. The bind has the
    /// flags of the mount that `source` is in.
    public static func bind(_ source: String, at place: MountPlace) throws(SystemError) {
        try bind(source, at: place.target)
    }

    /// A bind that is read-only from its first moment: `open_tree(2)`, `mount_setattr(2)`, `move_mount(2)`.
    public static func bindReadOnly(_ source: String, at path: String) throws(SystemError) {
        try ActingUser.asSuperuser { () throws(SystemError) in
            try systemCall { unsafe platform_bind_read_only(source, path) }
        }
    }

    /// `mount(2)` with `MS_REMOUNT | MS_BIND | MS_RDONLY`: other binds of the same filesystem stay as they are.
    public static func makeReadOnly(_ path: String) throws(SystemError) {
        // A remount replaces all flags, so those of the first mount are named again.
        let flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV
        try ActingUser.asSuperuser { () throws(SystemError) in
            try systemCall { unsafe Glibc.mount(nil, path, nil, UInt(flags), nil) }
        }
    }

    /// `mount(2)` with `MS_PRIVATE`: mounts below the path do not propagate between mount namespaces.
    public static func makePrivate(_ path: String) throws(SystemError) {
        try ActingUser.asSuperuser { () throws(SystemError) in
            try systemCall { unsafe Glibc.mount(nil, path, nil, UInt(MS_PRIVATE), nil) }
        }
    }

    /// `statvfs(3)`: whether the process that served the mount is gone (ENOTCONN).
    ///
    /// The kernel still answers stat(2) from its cache; it caches no answer to statvfs. A connection over io_uring goes
    /// a moment after its process, and calls are cancelled or aborted till then: that moment is waited out.
    public static func isAbandoned(_ path: String) -> Bool {
        let end = MonotonicClock.nanoseconds + longestDisconnection
        while true {
            let code = ActingUser.asSuperuser {
                var figures = statvfs()
                return unsafe statvfs(path, &figures) == -1 ? errno : 0
            }
            guard code == ECANCELED || code == ECONNABORTED, MonotonicClock.nanoseconds < end else {
                return code == ENOTCONN
            }
            usleep(500)
        }
    }

    /// Nanoseconds. It takes milliseconds, and longer on a machine with much else to do.
    private static let longestDisconnection: UInt64 = 5_000_000_000

    /// `umount2(2)` with `MNT_FORCE` of a FUSE mount that is held meanwhile, so that it stays: its connection is
    /// aborted.
    /// - Returns: false if it is none, or this process may not.
    public static func abort(_ path: String) -> Bool {
        ActingUser.asSuperuser {
            guard let held = try? Descriptor.openDirectory(path: path) else { return false }
            let code = unsafe umount2(path, Int32(MNT_FORCE | UMOUNT_NOFOLLOW)) == -1 ? errno : 0
            _ = consume held
            return code == 0 || code == EBUSY
        }
    }

    public enum Removal: Sendable {
        /// Fails with EBUSY while the mount is in use.
        case whenIdle
        /// `MNT_DETACH`: out of sight at once, ended with its last use.
        case lazily
        /// `MNT_DETACH | MNT_FORCE`: out of sight at once, and requests under way are aborted.
        case byForce
    }

    /// `umount2(2)` of the topmost mount at the path, with `UMOUNT_NOFOLLOW`.
    public static func unmount(_ path: String, _ removal: Removal = .whenIdle) throws(SystemError) {
        let flags =
            switch removal {
            case .whenIdle: UMOUNT_NOFOLLOW
            case .lazily: UMOUNT_NOFOLLOW | MNT_DETACH
            case .byForce: UMOUNT_NOFOLLOW | MNT_DETACH | MNT_FORCE
            }
        try ActingUser.asSuperuser { () throws(SystemError) in
            try systemCall { unsafe umount2(path, Int32(flags)) }
        }
    }
}
