// Other processes, as /proc tells of them.

import CPlatform
public import Glibc

/// A process of the host, by the number of any of its threads.
public struct HostProcess: Hashable, Sendable {
    public let id: pid_t
    /// What the process calls itself: at most 15 bytes, of which those that are not UTF-8 show as replacement
    /// characters. Nil where /proc does not show others' processes.
    public let name: String?

    public init(ofThread thread: pid_t) {
        id = HostProcess.identifier(ofThread: thread)
        name = (try? HostPath.contents("/proc/\(id)/comm")).map { name in
            String(decoding: name.last == UInt8(ascii: "\n") ? name.dropLast() : name[...], as: UTF8.self)
        }
    }

    /// The process of a thread, unless the number has come to be another thread's.
    /// - Parameter time: when the thread was there, in nanoseconds since the host's boot (CLOCK_BOOTTIME).
    /// - Returns: nil when there is no thread of that number, or one that has begun since.
    public init?(ofThread thread: pid_t, asOf time: Int64) {
        guard let start = HostProcess.start(ofThread: thread), start <= time else { return nil }
        self.init(ofThread: thread)
    }

    /// When a thread began, in nanoseconds since the host's boot; the host counts in hundredths of a second or so.
    private static func start(ofThread thread: pid_t) -> Int64? {
        guard let line = try? HostPath.contents("/proc/\(thread)/stat"),
            let end = line.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        // The name, in parentheses, may hold anything; the twentieth word after it is the time (proc(5)).
        let words = line[(end + 1)...].split(separator: UInt8(ascii: " "))
        let ticks = Int64(sysconf(Int32(_SC_CLK_TCK)))
        guard words.count > 19, ticks > 0, let start = Int64(String(decoding: words[19], as: UTF8.self)) else {
            return nil
        }
        return start * (1_000_000_000 / ticks)
    }

    /// The number of a thread's process; its own where /proc does not tell.
    public static func identifier(ofThread thread: pid_t) -> pid_t {
        process(in: (try? HostPath.contents("/proc/\(thread)/status")) ?? []) ?? thread
    }

    /// The system call that a thread waits in, if it is one of these. Nil as well where that is not shown: it takes the
    /// right to trace the process.
    public static func contentCall(ofThread thread: pid_t) -> ContentCall? {
        guard let line = try? HostPath.contents("/proc/\(thread)/syscall"),
            let number = Int(String(decoding: line.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self))
        else { return nil }
        return switch platform_content_call(number) {
        case PLATFORM_CALL_READ: .read
        case PLATFORM_CALL_WRITE: .write
        case PLATFORM_CALL_TRUNCATE: .truncate
        case PLATFORM_CALL_FALLOCATE: .fallocate
        default: nil
        }
    }

    /// A system call on a file's content.
    public enum ContentCall: Sendable {
        case read, write, truncate, fallocate
    }

    /// The number behind `Tgid:` in /proc/PID/status. A process cannot forge the line: in its name, which comes
    /// first, a line end is shown as two characters.
    private static func process(in status: [UInt8]) -> pid_t? {
        status.split(separator: UInt8(ascii: "\n")).lazy
            .first { $0.starts(with: "Tgid:".utf8) }
            .flatMap { pid_t(String(decoding: $0.dropFirst("Tgid:\t".utf8.count), as: UTF8.self)) }
    }
}
