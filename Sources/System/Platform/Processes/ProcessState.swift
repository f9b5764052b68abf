// Whether processes are stopped, and the descendants of a supervisor, by /proc.

public import Glibc
import SandboxModel

/// The state of a process, as its line in /proc tells.
public enum ProcessState {
    /// Whether every thread of a process is stopped, or has ended. True for a process that is gone.
    public static func isStopped(_ process: pid_t) -> Bool {
        everyThread(of: process) { _, state in stopped.contains(state) }
    }

    /// Whether a process that has got SIGSTOP takes no step: it is stopped, or waits in `vfork(2)` for a child that is.
    public static func standsStill(_ process: pid_t) -> Bool {
        everyThread(of: process) { place, state in
            stopped.contains(state) || state == UInt8(ascii: "D") && waitsForStoppedChild(place)
        }
    }

    private static func everyThread(of process: pid_t, _ holds: (_ place: String, _ state: UInt8) -> Bool) -> Bool {
        guard let threads = numbers(in: "/proc/\(process)/task") else { return true }
        return threads.allSatisfy { thread in
            let place = "/proc/\(process)/task/\(thread)"
            guard let state = state(at: place) else { return true }
            return holds(place, state)
        }
    }

    /// Whether a process blocks, ignores or catches a signal, which would end it otherwise.
    public static func takes(_ signal: Int32, _ process: pid_t) -> Bool {
        let text = (try? HostPath.contents("/proc/\(process)/status")) ?? []
        return text.split(separator: UInt8(ascii: "\n")).contains { line in
            let words = String(decoding: line, as: UTF8.self).split(separator: "\t" as Character)
            guard words.count == 2, ["SigBlk:", "SigIgn:", "SigCgt:"].contains(words[0]),
                let set = UInt64(words[1], radix: 16)
            else { return false }
            return set >> UInt64(signal - 1) & 1 == 1
        }
    }

    /// The letters of stopped and ended threads in proc_pid_stat(5).
    private static let stopped = Array("TtZXx".utf8)
    /// The functions of the kernel in which a parent waits for its child of `vfork(2)`, over the years.
    private static let waitsForChild = ["kernel_clone", "_do_fork", "do_fork", "wait_for_vfork_done"]

    private static func state(at place: String) -> UInt8? {
        guard let line = try? HostPath.contents("\(place)/stat"), let close = line.lastIndex(of: UInt8(ascii: ")")),
            close + 2 < line.count
        else { return nil }
        return line[close + 2]
    }

    /// Whether a thread is in `vfork(2)`, and its child is stopped: it takes no step before that one goes on, but is
    /// not shown as stopped. Another child that is stopped is taken for that one: only a SIGSTOP that waits makes it
    /// sure.
    private static func waitsForStoppedChild(_ place: String) -> Bool {
        let function = (try? HostPath.contents("\(place)/wchan")).map { String(decoding: $0, as: UTF8.self) } ?? "0"
        // "0" where the kernel does not tell.
        guard function == "0" || waitsForChild.contains(function) else { return false }
        return children(at: place).contains { state(at: "/proc/\($0)") == UInt8(ascii: "T") }
    }

    /// The children that a thread has made, or that were given to it.
    static func children(at place: String) -> [pid_t] {
        ((try? HostPath.contents("\(place)/children")) ?? []).split(separator: UInt8(ascii: " "))
            .compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
    }

    /// The numbers that are names in a directory of /proc; nil where it is not there.
    static func numbers(in directory: String) -> [pid_t]? {
        guard let descriptor = try? Descriptor.open(path: directory, flags: O_RDONLY | O_DIRECTORY) else { return nil }
        let reader = DirectoryReader(descriptor)
        var numbers: [pid_t] = []
        while let entry = try? reader.next() {
            if let number = pid_t(entry.name.text) { numbers.append(number) }
        }
        return numbers
    }
}

extension ProcessFamily {
    /// All descendants of a subreaper (prctl(2)), by the lists of children: no other process of the host is looked at.
    public static func descendants(of subreaper: pid_t) -> [pid_t] {
        var found: Set<pid_t> = []
        var front = [subreaper]
        while let process = front.popLast() {
            for thread in ProcessState.numbers(in: "/proc/\(process)/task") ?? [] {
                for child in ProcessState.children(at: "/proc/\(process)/task/\(thread)")
                where found.insert(child).inserted {
                    front.append(child)
                }
            }
        }
        return found.sorted()
    }
}
