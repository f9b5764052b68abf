// Other processes, by /proc.

import CPlatform
public import Glibc

/// A process of the host.
public struct HostProcess: Hashable, Sendable {
    public let id: pid_t
    /// /proc/PID/comm: at most 15 bytes, with U+FFFD for invalid UTF-8. Nil where /proc does not show other processes.
    public let name: String?

    public init(ofThread thread: pid_t) {
        id = HostProcess.identifier(ofThread: thread)
        name = (try? HostPath.contents("/proc/\(id)/comm")).map { name in
            String(decoding: name.last == UInt8(ascii: "\n") ? name.dropLast() : name[...], as: UTF8.self)
        }
    }

    /// The process of a thread, unless its number was reused since.
    /// - Parameter time: an instant at which the thread existed, in nanoseconds of CLOCK_BOOTTIME.
    /// - Returns: nil if there is no such thread, or one that began later.
    public init?(ofThread thread: pid_t, asOf time: Int64) {
        guard let start = HostProcess.start(ofThread: thread), start <= time else { return nil }
        self.init(ofThread: thread)
    }

    /// When a thread began, in nanoseconds of CLOCK_BOOTTIME, with a resolution of one clock tick.
    private static func start(ofThread thread: pid_t) -> Int64? {
        guard let line = try? HostPath.contents("/proc/\(thread)/stat"),
            let end = line.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        // starttime of proc_pid_stat(5): the twentieth word after the name, which may contain anything.
        let words = line[(end + 1)...].split(separator: UInt8(ascii: " "))
        let ticks = Int64(sysconf(Int32(_SC_CLK_TCK)))
        guard words.count > 19, ticks > 0, let start = Int64(String(decoding: words[19], as: UTF8.self)) else {
            return nil
        }
        return start * (1_000_000_000 / ticks)
    }

    /// The process identifier of a thread; the thread's own number where /proc does not tell.
    public static func identifier(ofThread thread: pid_t) -> pid_t {
        process(in: (try? HostPath.contents("/proc/\(thread)/status")) ?? []) ?? thread
    }

    /// The supplementary groups of a thread; none where /proc does not tell.
    public static func groups(ofThread thread: pid_t) -> [gid_t] {
        guard thread != 0, let status = try? HostPath.contents("/proc/\(thread)/status") else { return [] }
        // A name cannot forge the line, as for `Tgid:`.
        let line = status.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "Groups:".utf8) }
        return (line ?? []).dropFirst("Groups:".utf8.count).split {
            $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t")
        }
        .compactMap { gid_t(String(decoding: $0, as: UTF8.self)) }
    }

    /// The system call on content that a thread waits in, by /proc/TID/syscall. Nil also without the permission to
    /// trace the process.
    public static func contentCall(ofThread thread: pid_t) -> ContentCall? {
        guard let line = try? HostPath.contents("/proc/\(thread)/syscall"),
            let number = Int(String(decoding: line.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self))
        else { return nil }
        return switch platform_content_call(number) {
        case PLATFORM_CALL_READ: .read
        case PLATFORM_CALL_WRITE: .write
        case PLATFORM_CALL_TRUNCATE: .truncate
        case PLATFORM_CALL_FALLOCATE: .fallocate
        case PLATFORM_CALL_SEEK: .seek
        default: nil
        }
    }

    /// Kinds of system calls on a file's content.
    public enum ContentCall: Sendable {
        case read, write, truncate, fallocate, seek
    }

    /// `Tgid:` of /proc/PID/status. A process cannot forge the line by its name, which comes first: a newline in it is
    /// escaped.
    private static func process(in status: [UInt8]) -> pid_t? {
        status.split(separator: UInt8(ascii: "\n")).lazy
            .first { $0.starts(with: "Tgid:".utf8) }
            .flatMap { pid_t(String(decoding: $0.dropFirst("Tgid:\t".utf8.count), as: UTF8.self)) }
    }
}
