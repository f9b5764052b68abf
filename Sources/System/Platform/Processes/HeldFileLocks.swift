// The file locks of a process, by /proc/PID/fdinfo (proc_pid_fdinfo(5)).

public import Glibc
public import SandboxModel

/// A lock that a process holds on a file, with the number of the file. No path is followed, so that no filesystem is
/// asked: it may be this process's own.
public struct HeldFileLock: Hashable, Sendable {
    public let lock: FileLock
    /// The device of the file's superblock, as `makedev(3)` puts it together from its two numbers.
    public let device: UInt64
    public let inode: UInt64

    public init(_ lock: FileLock, device: UInt64, inode: UInt64) {
        self.lock = lock
        self.device = device
        self.inode = inode
    }

    /// A line such as `lock:	1: POSIX  ADVISORY  WRITE 812 00:2a:33 0 EOF`.
    /// - Returns: nil for any other line, and for a lease.
    init?(line: some Sequence<UInt8>) {
        let words = String(decoding: Array(line), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 9, words[0] == "lock:", let form = HeldFileLock.forms[String(words[2])],
            let first = UInt64(words[7])
        else { return nil }
        let last = words[8] == "EOF" ? UInt64.max : UInt64(words[8])
        let numbers = words[6].split(separator: ":" as Character)
        guard let last, last >= first, numbers.count == 3, let major = UInt64(numbers[0], radix: 16),
            let minor = UInt64(numbers[1], radix: 16), let inode = UInt64(numbers[2])
        else { return nil }
        self.init(
            FileLock(form, isExclusive: words[4] == "WRITE", bytes: first...last),
            device: HeldFileLock.device(major: major, minor: minor), inode: inode)
    }

    private static let forms: [String: FileLock.Form] = ["FLOCK": .flock, "POSIX": .posix, "OFDLCK": .ofd]

    /// A number for the two that the kernel has.
    public static func device(major: UInt64, minor: UInt64) -> UInt64 { major << 32 | minor }

    /// The locks that a process holds, each once.
    ///
    /// A lock of an open file (`flock`, OFD) is held by each process that has the file open. Files of a thread that
    /// shares none with its process (`CLONE_FILES` taken back) are not looked at.
    /// - Throws: ENOENT or ESRCH when the process has ended, EACCES for one that this process must not trace.
    public static func all(of process: pid_t) throws(SystemError) -> Set<HeldFileLock> {
        let (locks, count) = try locks(in: "/proc/\(process)/fdinfo")
        // The first thread may have ended before the others: they have the files then.
        guard count == 0, let threads = try? ProcDirectory.names(in: "/proc/\(process)/task"), threads.count > 1 else {
            return locks
        }
        for thread in threads {
            if let found = try? self.locks(in: "/proc/\(process)/task/\(thread)/fdinfo"), found.count > 0 {
                return found.locks
            }
        }
        return locks
    }

    /// - Returns: the locks, and the number of open files.
    private static func locks(in directory: String) throws(SystemError) -> (locks: Set<HeldFileLock>, count: Int) {
        var found: Set<HeldFileLock> = []
        let files = try ProcDirectory.names(in: directory)
        for file in files {
            // It may have been closed meanwhile.
            guard let text = try? HostPath.contents("\(directory)/\(file)") else { continue }
            for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: "lock:".utf8) {
                if let lock = HeldFileLock(line: line) { found.insert(lock) }
            }
        }
        return (found, files.count)
    }
}
