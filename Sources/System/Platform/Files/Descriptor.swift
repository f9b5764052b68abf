// Open files of the host, and the system calls on them.

import CPlatform
public import Glibc
public import SandboxModel

/// A file descriptor with one owner, closed when the value ends.
///
/// Reads and writes take an offset, so that threads can share one. Functions that use the file position instead, such
/// as ``append(_:)`` and ``readToEnd(limit:)``, say so.
public struct Descriptor: ~Copyable, Sendable {
    /// The raw descriptor, for system calls that have no method here. Valid while the value lives.
    public let number: Int32

    /// Takes ownership of an open descriptor.
    public init(owning number: Int32) {
        precondition(number >= 0)
        self.number = number
    }

    /// `close(2)`. Its errors are ignored.
    deinit {
        _ = Glibc.close(number)
    }

    /// `open(2)` with `O_CLOEXEC`. Only paths that the user named are opened so; everything below the device directory
    /// is reached from a directory's descriptor.
    /// - Parameter mode: the permissions of a file that `O_CREAT` makes, less the umask.
    public static func open(path: String, flags: Int32, mode: mode_t = 0) throws(SystemError) -> Descriptor {
        let number = try systemCall { unsafe Glibc.open(path, flags | O_CLOEXEC, mode) }
        return Descriptor(owning: number)
    }

    /// Hands the raw descriptor to the caller, who closes it.
    public consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }

    /// `fcntl(2)` with `F_DUPFD_CLOEXEC`.
    /// The copy shares the file position and the lock of ``tryLock()`` with the original.
    public borrowing func duplicate() throws(SystemError) -> Descriptor {
        let number = self.number
        return Descriptor(owning: try systemCall { fcntl(number, F_DUPFD_CLOEXEC, 0) })
    }

    // MARK: Reading and writing

    /// `pread(2)`, repeated until `count` bytes are read or the file ends.
    /// - Parameters:
    ///   - start: the offset in the buffer.
    ///   - offset: the offset in the file.
    /// - Returns: the bytes read; fewer than `count` only at the end of the file.
    public borrowing func read(
        into buffer: PageBuffer, at start: Int = 0, count: Int, from offset: Int64
    ) throws(SystemError) -> Int {
        precondition(start >= 0 && count >= 0 && start + count <= buffer.count)
        let number = self.number
        var done = 0
        while done < count {
            let got = try systemCall {
                unsafe pread(number, buffer.base + start + done, count - done, off_t(offset) + done)
            }
            if got == 0 { break }
            done += got
        }
        return done
    }

    /// `pread(2)`, once.
    /// - Returns: the bytes read; fewer than `count` at the end of a regular file, and anywhere in others.
    public borrowing func readOnce(
        into buffer: PageBuffer, count: Int, from offset: Int64
    ) throws(SystemError) -> Int {
        precondition(count >= 0 && count <= buffer.count)
        let number = self.number
        return try systemCall { unsafe pread(number, buffer.base, count, off_t(offset)) }
    }

    /// `read(2)`, once, from where the file is: a pipe's next bytes.
    /// - Parameters:
    ///   - start: the offset in the buffer.
    ///   - count: the most bytes to read.
    /// - Returns: the bytes read; 0 at the end.
    public borrowing func readNext(
        into buffer: PageBuffer, at start: Int = 0, count: Int
    ) throws(SystemError) -> Int {
        precondition(start >= 0 && count >= 0 && start + count <= buffer.count)
        let number = self.number
        return try systemCall { unsafe Glibc.read(number, buffer.base + start, count) }
    }

    /// `pwrite(2)`, repeated until all `count` bytes are written.
    /// - Parameters:
    ///   - start: the offset in the buffer.
    ///   - offset: the offset in the file.
    /// - Throws: ENOSPC or EDQUOT on a full host, EFBIG, EIO. A part of the bytes may be written then.
    public borrowing func write(
        from buffer: PageBuffer, at start: Int = 0, count: Int, to offset: Int64
    ) throws(SystemError) {
        precondition(start >= 0 && count >= 0 && start + count <= buffer.count)
        let number = self.number
        var done = 0
        while done < count {
            done += try systemCall {
                unsafe pwrite(number, buffer.base + start + done, count - done, off_t(offset) + done)
            }
        }
    }

    /// `pwrite(2)`, repeated until all bytes are written.
    public borrowing func write(_ bytes: borrowing RawSpan, to offset: Int64) throws(SystemError) {
        let number = self.number
        var done = 0
        while done < bytes.byteCount {
            let rest = bytes.extracting(done..<bytes.byteCount)
            done += try systemCall {
                unsafe rest.withUnsafeBytes { unsafe pwrite(number, $0.baseAddress, $0.count, off_t(offset) + done) }
            }
        }
    }

    /// `fsync(2)`, or `fdatasync(2)` if `dataOnly`. Does nothing where ``Durability`` is waived.
    /// - Throws: EIO or ENOSPC if writeback has failed since the last call. The kernel reports that once for each open
    ///   file, so a second call proves nothing.
    public borrowing func synchronize(dataOnly: Bool = false) throws(SystemError) {
        if Durability.isWaived { return }
        let number = self.number
        try systemCall { dataOnly ? fdatasync(number) : fsync(number) }
    }

    /// `syncfs(2)` of the filesystem that holds the file. Does nothing where ``Durability`` is waived.
    public borrowing func synchronizeFilesystem() throws(SystemError) {
        if Durability.isWaived { return }
        let number = self.number
        try systemCall { platform_syncfs(number) }
    }

    // MARK: Shape

    /// `ftruncate(2)`.
    public borrowing func truncate(to length: Int64) throws(SystemError) {
        let number = self.number
        try systemCall { ftruncate(number, off_t(length)) }
    }

    /// `fallocate(2)`: reserves space; with `FALLOC_FL_KEEP_SIZE` unless `extending`.
    /// - Throws: ENOSPC, of which a part of the range may stay allocated; EOPNOTSUPP where the filesystem cannot:
    ///   unlike posix_fallocate(3), this writes no zeros instead.
    public borrowing func allocate(_ offset: Int64, count: Int64, extending: Bool) throws(SystemError) {
        let number = self.number
        let mode = extending ? 0 : Int32(platform_FALLOC_KEEP_SIZE)
        try systemCall { platform_fallocate(number, mode, offset, count) }
    }

    /// `fallocate(2)` with `FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE`.
    /// The length stays; blocks that lie in the range in part are zeroed there.
    /// - Throws: EOPNOTSUPP where the filesystem cannot.
    public borrowing func punchHole(_ offset: Int64, count: Int64) throws(SystemError) {
        let number = self.number
        let mode = Int32(platform_FALLOC_PUNCH_HOLE | platform_FALLOC_KEEP_SIZE)
        try systemCall { platform_fallocate(number, mode, offset, count) }
    }

    /// `lseek(2)` with `SEEK_DATA`. Moves the file position.
    /// - Returns: nil when no data follows (ENXIO).
    public borrowing func nextData(from offset: Int64) throws(SystemError) -> Int64? {
        let number = self.number
        do throws(SystemError) {
            return Int64(try systemCall { lseek(number, off_t(offset), platform_SEEK_DATA) })
        } catch {
            if error == .noSuchAddress { return nil }
            throw error
        }
    }

    /// `lseek(2)` with `SEEK_HOLE`. The end of the file counts as a hole. Moves the file position.
    /// - Throws: ENXIO from the end of the file on.
    public borrowing func nextHole(from offset: Int64) throws(SystemError) -> Int64 {
        let number = self.number
        return Int64(try systemCall { lseek(number, off_t(offset), platform_SEEK_HOLE) })
    }

    // MARK: Attributes of the open file

    /// `fstat(2)`.
    public borrowing func status() throws(SystemError) -> FileStatus {
        let number = self.number
        var status = stat()
        try systemCall { unsafe fstat(number, &status) }
        return FileStatus(status)
    }

    /// `statx(2)` without the times of the last write and change, which the caller knows.
    ///
    /// A kernel with multigrain timestamps (since 6.13) gives the first write after a query of these times a time of
    /// its own, and ext4 then writes the inode at each fdatasync.
    public borrowing func status(writtenAt time: timespec) throws(SystemError) -> FileStatus {
        let number = self.number
        var status = stat()
        status.st_mtim = time
        status.st_ctim = time
        try systemCall { unsafe platform_status_without_write_times(number, &status) }
        return FileStatus(status)
    }

    /// `statx(2)` with `STATX_BTIME`: when the file was created.
    /// - Throws: ENODATA where the host filesystem does not record it.
    public borrowing func birthTime() throws(SystemError) -> timespec {
        let number = self.number
        var seconds: Int64 = 0
        var nanoseconds: UInt32 = 0
        try systemCall { unsafe platform_birth_time(number, &seconds, &nanoseconds) }
        return timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
    }

    /// `fchmod(2)`.
    public borrowing func changeMode(_ mode: mode_t) throws(SystemError) {
        let number = self.number
        try systemCall { fchmod(number, mode) }
    }

    /// `fchown(2)`. `uid_t.max` and `gid_t.max` leave owner and group as they are.
    public borrowing func changeOwner(_ owner: uid_t, group: gid_t) throws(SystemError) {
        let number = self.number
        try systemCall { fchown(number, owner, group) }
    }

    /// `futimens(3)`.
    public borrowing func changeTimes(access: timespec, modification: timespec) throws(SystemError) {
        let number = self.number
        var times = (access, modification)
        try systemCall {
            unsafe withUnsafeBytes(of: &times) { bytes in
                unsafe futimens(number, bytes.baseAddress!.assumingMemoryBound(to: timespec.self))
            }
        }
    }

    /// `sync_file_range(2)` with `SYNC_FILE_RANGE_WRITE`: starts writing the range to the disk and does not wait. Only
    /// ``synchronize(dataOnly:)`` tells whether it arrived.
    public borrowing func beginWriteback(from offset: Int64, count: Int64) {
        _ = platform_begin_writeback(number, offset, count)
    }

    /// `posix_fadvise(2)` with `POSIX_FADV_WILLNEED`: starts reading the range into the kernel's cache and does not
    /// wait.
    public borrowing func beginReading(from offset: Int64, count: Int) {
        _ = posix_fadvise(number, off_t(offset), off_t(count), POSIX_FADV_WILLNEED)
    }

    /// `fstatvfs(3)`.
    public borrowing func filesystemStatistics() throws(SystemError) -> statvfs {
        let number = self.number
        var statistics = statvfs()
        try systemCall { unsafe fstatvfs(number, &statistics) }
        return statistics
    }

    /// `fstatfs(2)`: the filesystem's magic number and the size of its blocks in bytes.
    public borrowing func filesystemType() throws(SystemError) -> (type: Int64, blockSize: Int64) {
        let number = self.number
        var type: Int64 = 0
        var blockSize: Int64 = 0
        try systemCall { unsafe platform_filesystem_type(number, &type, &blockSize) }
        return (type, blockSize)
    }

    /// `ioctl(2)` with `FS_IOC_GETFLAGS`: the flags of chattr(1).
    public borrowing func inodeFlags() throws(SystemError) -> UInt32 {
        let number = self.number
        var flags: UInt32 = 0
        try systemCall { unsafe platform_get_inode_flags(number, &flags) }
        return flags
    }

    /// `ioctl(2)` with `FS_IOC_SETFLAGS`.
    /// - Throws: EPERM for the flags `i` and `a` without CAP_LINUX_IMMUTABLE.
    public borrowing func setInodeFlags(_ flags: UInt32) throws(SystemError) {
        let number = self.number
        try systemCall { platform_set_inode_flags(number, flags) }
    }

    /// `flock(2)` with `LOCK_EX | LOCK_NB`. The lock belongs to the open file: duplicates have it too, and a second
    /// opening of the file competes for it, even in the same process.
    /// - Returns: false when another open file holds the lock.
    public borrowing func tryLock() throws(SystemError) -> Bool {
        let number = self.number
        do throws(SystemError) {
            try systemCall { flock(number, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            if error.code == EWOULDBLOCK { return false }
            throw error
        }
    }

    /// `flock(2)` with `LOCK_UN`. Closing alone would leave the lock with a child that is between fork and exec.
    public borrowing func unlock() throws(SystemError) {
        let number = self.number
        try systemCall { flock(number, LOCK_UN) }
    }
}

/// A descriptor that several owners share; closed with the last of them.
public final class SharedDescriptor: Sendable {
    public let descriptor: Descriptor

    public init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }
}
