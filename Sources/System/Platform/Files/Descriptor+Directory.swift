// System calls on directory entries, each by (directory descriptor, one name). None takes a path or follows a link.

import CPlatform
public import Glibc
public import SandboxModel

extension Descriptor {
    @inline(__always)
    private borrowing func call<Result: FixedWidthInteger & SignedInteger>(
        _ name: FileName, _ body: (Int32, UnsafePointer<CChar>) -> Result
    ) throws(SystemError) -> Result {
        let number = self.number
        let terminated = name.terminated
        return try systemCall {
            // The array outlives the call, and a FileName ends with NUL.
            unsafe terminated.withUnsafeBytes { bytes in
                unsafe body(number, bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
            }
        }
    }

    /// `openat(2)` with `O_CLOEXEC | O_NOFOLLOW`.
    /// - Throws: ELOOP for a symbolic link; with `O_DIRECTORY` ENOTDIR for anything but a directory.
    public borrowing func open(_ name: FileName, flags: Int32, mode: mode_t = 0) throws(SystemError) -> Descriptor {
        Descriptor(
            owning: try unsafe call(name) { unsafe openat($0, $1, flags | O_CLOEXEC | O_NOFOLLOW, mode) })
    }

    /// `O_NOATIME` of open(2), for the owner of a file and for root: reading leaves the time of access as it is.
    public static var keepingAccessTime: Int32 { platform_O_NOATIME }

    /// `openat(2)` with `O_PATH | O_DIRECTORY`: enough for every call of this file.
    /// - Throws: ENOTDIR for anything else, a symbolic link to a directory included.
    public borrowing func openDirectory(_ name: FileName) throws(SystemError) -> Descriptor {
        try open(name, flags: platform_O_PATH | O_DIRECTORY)
    }

    /// `openat(2)` of `..`: the parent directory. The root's parent is the root.
    public borrowing func openParent() throws(SystemError) -> Descriptor {
        let number = self.number
        // `..` is no `FileName`.
        return Descriptor(
            owning: try systemCall { unsafe openat(number, "..", platform_O_PATH | O_DIRECTORY | O_CLOEXEC) })
    }

    /// `open(2)` with `O_PATH | O_DIRECTORY`. Follows every link of the path.
    public static func openDirectory(path: String) throws(SystemError) -> Descriptor {
        try open(path: path, flags: platform_O_PATH | O_DIRECTORY)
    }

    /// `openat(2)` with `O_PATH | O_NOFOLLOW`: an entry of any kind, whatever its mode.
    public borrowing func openNode(_ name: FileName) throws(SystemError) -> Descriptor {
        try open(name, flags: platform_O_PATH)
    }

    /// `open(2)` with `O_PATH`. Follows every link of the path but the last.
    /// - Parameter following: whether the last is followed too.
    public static func openNode(path: String, following: Bool = false) throws(SystemError) -> Descriptor {
        try open(path: path, flags: platform_O_PATH | (following ? 0 : O_NOFOLLOW))
    }

    /// `open(2)` of /proc/self/fd/N: opens the same file again, with other access.
    /// The result has a file position and locks of its own.
    /// - Throws: EACCES if the file's mode denies the access; ENOENT where /proc is not mounted.
    public borrowing func reopen(flags: Int32) throws(SystemError) -> Descriptor {
        let path = "/proc/self/fd/\(number)"
        return Descriptor(owning: try systemCall { unsafe Glibc.open(path, flags | O_CLOEXEC) })
    }

    /// `fstatat(2)` with `AT_SYMLINK_NOFOLLOW`.
    public borrowing func status(of name: FileName) throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try unsafe call(name) { unsafe fstatat($0, $1, &status, AT_SYMLINK_NOFOLLOW) }
        return FileStatus(status)
    }

    /// `fstatat(2)`: false for ENOENT.
    public borrowing func exists(_ name: FileName) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try status(of: name)
            return true
        } catch {
            if error == .noEntry { return false }
            throw error
        }
    }

    /// `mkdirat(2)`.
    /// - Parameter mode: the permissions, less the umask.
    public borrowing func makeDirectory(_ name: FileName, mode: mode_t) throws(SystemError) {
        _ = try unsafe call(name) { unsafe mkdirat($0, $1, mode) }
    }

    /// `mknodat(2)` with device number 0.
    /// - Parameter mode: the file type, such as `S_IFIFO`, and the permissions, less the umask.
    /// - Throws: EPERM for a device node without CAP_MKNOD.
    public borrowing func makeNode(_ name: FileName, mode: mode_t) throws(SystemError) {
        _ = try unsafe call(name) { unsafe mknodat($0, $1, mode, 0) }
    }

    /// `symlinkat(2)`. `target` has no NUL.
    public borrowing func makeSymbolicLink(_ name: FileName, target: [UInt8]) throws(SystemError) {
        let terminated = target + [0]
        _ = try unsafe call(name) { directory, name in
            unsafe terminated.withUnsafeBytes { bytes in
                unsafe symlinkat(bytes.baseAddress!.assumingMemoryBound(to: CChar.self), directory, name)
            }
        }
    }

    /// `readlinkat(2)`.
    /// - Throws: EINVAL if the entry is no symbolic link.
    public borrowing func symbolicLinkTarget(_ name: FileName) throws(SystemError) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = try unsafe call(name) { directory, name in
            unsafe target.withUnsafeMutableBytes { bytes in
                unsafe readlinkat(
                    directory, name, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
            }
        }
        return Array(target[..<length])
    }

    /// `unlinkat(2)`.
    /// - Throws: EISDIR for a directory.
    public borrowing func removeFile(_ name: FileName) throws(SystemError) {
        _ = try unsafe call(name) { unsafe unlinkat($0, $1, 0) }
    }

    /// `unlinkat(2)` with `AT_REMOVEDIR`.
    /// - Throws: ENOTEMPTY, ENOTDIR; EBUSY for a mount point.
    public borrowing func removeDirectory(_ name: FileName) throws(SystemError) {
        _ = try unsafe call(name) { unsafe unlinkat($0, $1, AT_REMOVEDIR) }
    }

    /// The flags of `renameat2(2)`.
    public enum RenameMode: Sendable {
        /// Replaces an existing entry.
        case replacing
        /// RENAME_NOREPLACE.
        case keeping
        /// RENAME_EXCHANGE.
        case exchanging
    }

    /// `renameat2(2)`.
    /// - Throws: EEXIST with `keeping`; ENOTEMPTY if it would replace a directory with entries; EXDEV between
    ///   filesystems or mounts; EINVAL where the filesystem does not know the flag.
    public borrowing func rename(
        _ name: FileName, to newName: FileName, in newDirectory: borrowing Descriptor, mode: RenameMode = .replacing
    ) throws(SystemError) {
        let target = newDirectory.number
        let terminated = newName.terminated
        let flags: UInt32 =
            switch mode {
            case .replacing: 0
            case .keeping: UInt32(platform_RENAME_NOREPLACE)
            case .exchanging: UInt32(platform_RENAME_EXCHANGE)
            }
        _ = try unsafe call(name) { directory, name in
            unsafe terminated.withUnsafeBytes { bytes in
                let newName = unsafe bytes.baseAddress!.assumingMemoryBound(to: CChar.self)
                return flags == 0
                    ? unsafe renameat(directory, name, target, newName)
                    : unsafe platform_renameat2(directory, name, target, newName, flags)
            }
        }
    }

    /// `linkat(2)`.
    /// A symbolic link gets the further name itself, not its target.
    /// - Throws: EEXIST; EPERM for a directory; EMLINK; EXDEV between filesystems or mounts.
    public borrowing func link(
        _ name: FileName, to newName: FileName, in newDirectory: borrowing Descriptor
    ) throws(SystemError) {
        let target = newDirectory.number
        let terminated = newName.terminated
        _ = try unsafe call(name) { directory, name in
            unsafe terminated.withUnsafeBytes { bytes in
                unsafe linkat(directory, name, target, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), 0)
            }
        }
    }

    /// `fchmodat2(2)` with `AT_SYMLINK_NOFOLLOW`; before Linux 6.6 `chmod(2)` of /proc/self/fd/N.
    /// - Throws: EOPNOTSUPP for a symbolic link.
    public borrowing func changeMode(of name: FileName, to mode: mode_t) throws(SystemError) {
        do throws(SystemError) {
            _ = try unsafe call(name) { unsafe platform_change_mode($0, $1, mode) }
        } catch {
            // EPERM: a sandbox that does not know the call.
            guard error.code == ENOSYS || error == .notPermitted else { throw error }
            let entry = try openNode(name)
            guard try entry.status().kind != .symbolicLink else { throw .notSupported }
            try entry.changeModeOfNamed(mode)
        }
    }

    /// `fchownat(2)` with `AT_SYMLINK_NOFOLLOW`.
    public borrowing func changeOwner(of name: FileName, to owner: uid_t, group: gid_t) throws(SystemError) {
        _ = try unsafe call(name) { unsafe fchownat($0, $1, owner, group, AT_SYMLINK_NOFOLLOW) }
    }

    /// `utimensat(2)` with `AT_SYMLINK_NOFOLLOW`.
    /// ``timespec/unchanged`` and ``timespec/current`` are valid for both.
    public borrowing func changeTimes(
        of name: FileName, access: timespec, modification: timespec
    ) throws(SystemError) {
        var times = (access, modification)
        _ = try unsafe call(name) { directory, name in
            unsafe withUnsafeBytes(of: &times) { bytes in
                unsafe utimensat(
                    directory, name, bytes.baseAddress!.assumingMemoryBound(to: timespec.self), AT_SYMLINK_NOFOLLOW)
            }
        }
    }
}
