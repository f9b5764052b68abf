// The descendants of a process, by /proc.

public import Glibc
import SandboxModel

/// A process and the processes that it started, directly or not.
public enum ProcessFamily {
    /// A line of /proc/PID/stat.
    private struct Member {
        let id: pid_t
        let parent: pid_t
        let session: pid_t

        /// The name, between the identifier and the rest, may contain blanks and parentheses.
        init?(_ text: [UInt8]) {
            guard let close = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
            let fields = text[text.index(after: close)...].split(separator: UInt8(ascii: " "))
            // state, ppid, pgrp, session
            guard fields.count > 3, let id = Member.number(text.prefix { $0 != UInt8(ascii: " ") }),
                let parent = Member.number(fields[1]), let session = Member.number(fields[3])
            else { return nil }
            (self.id, self.parent, self.session) = (id, parent, session)
        }

        /// - Returns: nil where there is no such process.
        init?(running process: pid_t) {
            guard let text = try? HostPath.contents("/proc/\(process)/stat") else { return nil }
            self.init(text)
        }

        private static func number(_ digits: ArraySlice<UInt8>) -> pid_t? {
            pid_t(String(decoding: digits, as: UTF8.self))
        }
    }

    /// The process, its descendants, and all processes of its session, by identifier. Misses a process that was
    /// reparented and has left the session, and one that begins meanwhile.
    public static func members(of process: pid_t) -> [pid_t] {
        let all = processes()
        var found: Set<pid_t> = [process]
        var children: [pid_t: [pid_t]] = [:]
        for member in all {
            children[member.parent, default: []].append(member.id)
            if member.session == process { found.insert(member.id) }
        }
        var front = Array(found)
        while let next = front.popLast() {
            for child in children[next] ?? [] where found.insert(child).inserted { front.append(child) }
        }
        return found.sorted()
    }

    /// Whether ``members(of:)`` names a process now: it is the other, descends from it, or from a process of its
    /// session. Looks at the ancestors alone.
    public static func isMember(_ process: pid_t, of other: pid_t) -> Bool {
        var next = process
        while next > 0 {
            if next == other { return true }
            guard let member = Member(running: next) else { return false }
            if member.session == other { return true }
            next = member.parent
        }
        return false
    }

    private static func processes() -> [Member] {
        guard let directory = try? Descriptor.open(path: "/proc", flags: O_RDONLY | O_DIRECTORY) else { return [] }
        let reader = DirectoryReader(directory)
        var members: [Member] = []
        while let entry = try? reader.next() {
            guard let id = pid_t(entry.name.text), let member = Member(running: id) else { continue }
            members.append(member)
        }
        return members
    }
}
