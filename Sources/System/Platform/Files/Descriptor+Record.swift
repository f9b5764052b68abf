// Opening files of a device, which its owner may have replaced by anything.

public import Glibc
public import SandboxModel

extension Descriptor {
    /// `openat(2)` with `O_NOFOLLOW | O_NONBLOCK`, and `fstat(2)`: a regular file with one name, which belongs to the
    /// user this process acts as or to the owner of the directory. The call never waits: not for the other end of a
    /// fifo, and not for the holder of a lease.
    ///
    /// - Throws: ``SystemError/notRecord`` for anything else that is there; errors of open(2).
    public borrowing func openRecord(
        _ name: FileName, flags: Int32, mode: mode_t = 0
    ) throws(SystemError) -> Descriptor {
        let file: Descriptor
        do throws(SystemError) {
            file = try open(name, flags: flags | O_NONBLOCK, mode: mode)
        } catch {
            switch error.code {
            // A symbolic link; a socket, or a fifo without a reader; a directory.
            case ELOOP, ENXIO, EISDIR, EWOULDBLOCK: throw .notRecord
            default: throw error
            }
        }
        let status = try file.status()
        guard status.kind == .file, status.linkCount <= 1 else { throw .notRecord }
        if status.owner == geteuid() { return file }
        guard status.owner == (try self.status().owner) else { throw .notRecord }
        return file
    }

    /// `openat(2)` with `O_NOFOLLOW` of a file or directory in the store.
    ///
    /// A superuser's process that acts as the owner of the device looks first: the owner may have given a file of
    /// somebody else a name here, and opening a device or a fifo is an act of its own.
    /// - Throws: EIO for anything but a regular file and a directory of the owner; errors of open(2).
    public borrowing func openStored(_ name: FileName, flags: Int32) throws(SystemError) -> Descriptor {
        guard ActingUser.isActing else { return try open(name, flags: flags) }
        let entry = try openNode(name)
        let status = try entry.status()
        guard status.kind == .file || status.kind == .directory, status.owner == geteuid() else { throw .inputOutput }
        return try entry.reopen(flags: flags)
    }
}
