// An open file of the host, owned by one value: closed when that value ends, and never twice.

import CPlatform
public import Glibc
public import SandboxModel

/// An owned file descriptor. All I/O is positional, so that threads can share one.
public struct Descriptor: ~Copyable, Sendable {
    /// The number, for calls that the project makes nowhere else. It is valid while the value lives.
    public let number: Int32

    /// Takes ownership of an open descriptor.
    public init(owning number: Int32) {
        precondition(number >= 0)
        self.number = number
    }

    deinit {
        _ = Glibc.close(number)
    }

    /// Opens a path of the host. Only what the user named on the command line is a path; everything below the
    /// device directory is reached from a directory's descriptor.
    public static func open(path: String, flags: Int32, mode: mode_t = 0) throws(SystemError) -> Descriptor {
        let number = try systemCall { unsafe Glibc.open(path, flags | O_CLOEXEC, mode) }
        return Descriptor(owning: number)
    }

    /// Gives the number away: the caller closes it.
    public consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }

    public borrowing func duplicate() throws(SystemError) -> Descriptor {
        let number = self.number
        return Descriptor(owning: try systemCall { fcntl(number, F_DUPFD_CLOEXEC, 0) })
    }

    // MARK: Reading and writing

    /// Reads up to `count` bytes; fewer only at the end of the file.
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

    /// Writes all of `count` bytes, or throws.
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

    /// Writes all of the bytes, or throws.
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

    public borrowing func synchronize(dataOnly: Bool = false) throws(SystemError) {
        if Durability.isWaived { return }
        let number = self.number
        try systemCall { dataOnly ? fdatasync(number) : fsync(number) }
    }

    /// Writes everything out that the host filesystem of this descriptor holds in memory.
    public borrowing func synchronizeFilesystem() throws(SystemError) {
        if Durability.isWaived { return }
        let number = self.number
        try systemCall { platform_syncfs(number) }
    }

    // MARK: Shape

    public borrowing func truncate(to length: Int64) throws(SystemError) {
        let number = self.number
        try systemCall { ftruncate(number, off_t(length)) }
    }

    /// Reserves space, without changing the length unless `extending`.
    public borrowing func allocate(_ offset: Int64, count: Int64, extending: Bool) throws(SystemError) {
        let number = self.number
        let mode = extending ? 0 : Int32(platform_FALLOC_KEEP_SIZE)
        try systemCall { platform_fallocate(number, mode, offset, count) }
    }

    public borrowing func punchHole(_ offset: Int64, count: Int64) throws(SystemError) {
        let number = self.number
        let mode = Int32(platform_FALLOC_PUNCH_HOLE | platform_FALLOC_KEEP_SIZE)
        try systemCall { platform_fallocate(number, mode, offset, count) }
    }

    /// The next byte at or after `offset` that the host holds data for; nil when none follows.
    public borrowing func nextData(from offset: Int64) throws(SystemError) -> Int64? {
        let number = self.number
        do throws(SystemError) {
            return Int64(try systemCall { lseek(number, off_t(offset), platform_SEEK_DATA) })
        } catch {
            if error == .noSuchAddress { return nil }
            throw error
        }
    }

    public borrowing func nextHole(from offset: Int64) throws(SystemError) -> Int64 {
        let number = self.number
        return Int64(try systemCall { lseek(number, off_t(offset), platform_SEEK_HOLE) })
    }

    // MARK: Attributes of the open file

    public borrowing func status() throws(SystemError) -> FileStatus {
        let number = self.number
        var status = stat()
        try systemCall { unsafe fstat(number, &status) }
        return FileStatus(status)
    }

    /// The status of a file whose last write the caller knows better than the host.
    ///
    /// The host is not asked for its own times. A kernel with multigrain timestamps (since 6.13) would give the next
    /// write after such a question a time that is its alone, and ext4 would then write the inode at each fdatasync.
    public borrowing func status(writtenAt time: timespec) throws(SystemError) -> FileStatus {
        let number = self.number
        var status = stat()
        status.st_mtim = time
        status.st_ctim = time
        try systemCall { unsafe platform_status_without_write_times(number, &status) }
        return FileStatus(status)
    }

    /// When the file was created (statx's btime).
    /// - Throws: ENODATA where the host filesystem does not record it.
    public borrowing func birthTime() throws(SystemError) -> timespec {
        let number = self.number
        var seconds: Int64 = 0
        var nanoseconds: UInt32 = 0
        try systemCall { unsafe platform_birth_time(number, &seconds, &nanoseconds) }
        return timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
    }

    public borrowing func changeMode(_ mode: mode_t) throws(SystemError) {
        let number = self.number
        try systemCall { fchmod(number, mode) }
    }

    /// - Parameter owner, group: `uid_t.max` and `gid_t.max` leave the value as it is.
    public borrowing func changeOwner(_ owner: uid_t, group: gid_t) throws(SystemError) {
        let number = self.number
        try systemCall { fchown(number, owner, group) }
    }

    public borrowing func changeTimes(access: timespec, modification: timespec) throws(SystemError) {
        let number = self.number
        var times = (access, modification)
        try systemCall {
            unsafe withUnsafeBytes(of: &times) { bytes in
                unsafe futimens(number, bytes.baseAddress!.assumingMemoryBound(to: timespec.self))
            }
        }
    }

    /// Lets what was written to a range start on its way to the disk, without waiting for it. Whether it got there is
    /// for ``synchronize(dataOnly:)`` to say.
    public borrowing func beginWriteback(from offset: Int64, count: Int64) {
        _ = platform_begin_writeback(number, offset, count)
    }

    public borrowing func filesystemStatistics() throws(SystemError) -> statvfs {
        let number = self.number
        var statistics = statvfs()
        try systemCall { unsafe fstatvfs(number, &statistics) }
        return statistics
    }

    /// The filesystem's magic number and the size of its blocks, as statfs(2) has them.
    public borrowing func filesystemType() throws(SystemError) -> (type: Int64, blockSize: Int64) {
        let number = self.number
        var type: Int64 = 0
        var blockSize: Int64 = 0
        try systemCall { unsafe platform_filesystem_type(number, &type, &blockSize) }
        return (type, blockSize)
    }

    /// FS_IOC_GETFLAGS, such as the flag that `chattr +d` sets.
    public borrowing func inodeFlags() throws(SystemError) -> UInt32 {
        let number = self.number
        var flags: UInt32 = 0
        try systemCall { unsafe platform_get_inode_flags(number, &flags) }
        return flags
    }

    public borrowing func setInodeFlags(_ flags: UInt32) throws(SystemError) {
        let number = self.number
        try systemCall { platform_set_inode_flags(number, flags) }
    }

    /// An exclusive `flock` that does not wait.
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

    /// Gives the lock back at once: closing alone would leave it to a child that is between fork and exec.
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
