// Whether processes are stopped, and the descendants of a supervisor, by /proc.

public import Glibc
import SandboxModel

/// The state of a process, as its line in /proc tells.
public enum ProcessState {
    /// Whether every thread of a process is stopped, or has ended. True for a process that is gone.
    public static func isStopped(_ process: pid_t) -> Bool {
        guard let threads = numbers(in: "/proc/\(process)/task") else { return true }
        return threads.allSatisfy { thread in
            guard let line = try? HostPath.contents("/proc/\(process)/task/\(thread)/stat"),
                let close = line.lastIndex(of: UInt8(ascii: ")")), close + 2 < line.count
            else { return true }
            return "TtZXx".utf8.contains(line[close + 2])
        }
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
                let text = (try? HostPath.contents("/proc/\(process)/task/\(thread)/children")) ?? []
                for word in text.split(separator: UInt8(ascii: " ")) {
                    guard let child = pid_t(String(decoding: word, as: UTF8.self)), found.insert(child).inserted else {
                        continue
                    }
                    front.append(child)
                }
            }
        }
        return found.sorted()
    }
}
