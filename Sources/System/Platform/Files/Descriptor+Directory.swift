// System calls on a directory's entries: (directory descriptor, one name), never a path, never following a link.

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

    public borrowing func open(_ name: FileName, flags: Int32, mode: mode_t = 0) throws(SystemError) -> Descriptor {
        Descriptor(
            owning: try unsafe call(name) { unsafe openat($0, $1, flags | O_CLOEXEC | O_NOFOLLOW, mode) })
    }

    /// A descriptor that names the directory without reading it: enough for every call of this file.
    public borrowing func openDirectory(_ name: FileName) throws(SystemError) -> Descriptor {
        try open(name, flags: platform_O_PATH | O_DIRECTORY)
    }

    /// The directory that the one that this descriptor names is in; the root's is the root.
    public borrowing func openParent() throws(SystemError) -> Descriptor {
        let number = self.number
        // No `FileName` is this.
        return Descriptor(
            owning: try systemCall { unsafe openat(number, "..", platform_O_PATH | O_DIRECTORY | O_CLOEXEC) })
    }

    /// As ``openDirectory(_:)``, by a path of which every link is followed.
    public static func openDirectory(path: String) throws(SystemError) -> Descriptor {
        try open(path: path, flags: platform_O_PATH | O_DIRECTORY)
    }

    /// A descriptor that names an entry of any kind, whatever its mode.
    public borrowing func openNode(_ name: FileName) throws(SystemError) -> Descriptor {
        try open(name, flags: platform_O_PATH)
    }

    /// As ``openNode(_:)``, by a path of which the last name is not followed.
    public static func openNode(path: String) throws(SystemError) -> Descriptor {
        try open(path: path, flags: platform_O_PATH | O_NOFOLLOW)
    }

    /// Opens the file or directory that this descriptor names once more, with other access.
    public borrowing func reopen(flags: Int32) throws(SystemError) -> Descriptor {
        let path = "/proc/self/fd/\(number)"
        return Descriptor(owning: try systemCall { unsafe Glibc.open(path, flags | O_CLOEXEC) })
    }

    public borrowing func status(of name: FileName) throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try unsafe call(name) { unsafe fstatat($0, $1, &status, AT_SYMLINK_NOFOLLOW) }
        return FileStatus(status)
    }

    public borrowing func exists(_ name: FileName) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try status(of: name)
            return true
        } catch {
            if error == .noEntry { return false }
            throw error
        }
    }

    public borrowing func makeDirectory(_ name: FileName, mode: mode_t) throws(SystemError) {
        _ = try unsafe call(name) { unsafe mkdirat($0, $1, mode) }
    }

    public borrowing func makeNode(_ name: FileName, mode: mode_t) throws(SystemError) {
        _ = try unsafe call(name) { unsafe mknodat($0, $1, mode, 0) }
    }

    public borrowing func makeSymbolicLink(_ name: FileName, target: [UInt8]) throws(SystemError) {
        let terminated = target + [0]
        _ = try unsafe call(name) { directory, name in
            unsafe terminated.withUnsafeBytes { bytes in
                unsafe symlinkat(bytes.baseAddress!.assumingMemoryBound(to: CChar.self), directory, name)
            }
        }
    }

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

    public borrowing func removeFile(_ name: FileName) throws(SystemError) {
        _ = try unsafe call(name) { unsafe unlinkat($0, $1, 0) }
    }

    public borrowing func removeDirectory(_ name: FileName) throws(SystemError) {
        _ = try unsafe call(name) { unsafe unlinkat($0, $1, AT_REMOVEDIR) }
    }

    public enum RenameMode: Sendable {
        /// An entry that is there is replaced.
        case replacing
        /// RENAME_NOREPLACE.
        case keeping
        /// RENAME_EXCHANGE.
        case exchanging
    }

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

    /// Mode of an entry that is not a symbolic link; the caller has looked.
    public borrowing func changeMode(of name: FileName, to mode: mode_t) throws(SystemError) {
        _ = try unsafe call(name) { unsafe fchmodat($0, $1, mode, 0) }
    }

    public borrowing func changeOwner(of name: FileName, to owner: uid_t, group: gid_t) throws(SystemError) {
        _ = try unsafe call(name) { unsafe fchownat($0, $1, owner, group, AT_SYMLINK_NOFOLLOW) }
    }

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
