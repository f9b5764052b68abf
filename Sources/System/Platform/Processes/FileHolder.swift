// The processes that have a file open or mapped, by /proc (proc_pid_fd(5), proc_pid_fdinfo(5), proc_pid_maps(5)).

import Glibc
public import SandboxModel

/// A process that has a file open or mapped. No path is followed, so that no filesystem is asked: it may be this
/// process's own.
public struct FileHolder: Hashable, Sendable {
    public let process: HostProcess
    /// Whether it can write to the file.
    public let writes: Bool

    /// The processes that hold a file, as far as this one may look at them, in the order of their numbers.
    /// - Parameters:
    ///   - inode: its number, as stat(2) has it.
    ///   - name: its last name: two filesystems may have files of the same number.
    public static func all(ofInode inode: UInt64, named name: FileName) -> [FileHolder] {
        let own = getpid()
        let file = File(inode: inode, name: name)
        let processes = ((try? ProcDirectory.names(in: "/proc")) ?? []).compactMap { pid_t($0) }
        return processes.sorted().compactMap { process in
            guard process != own, let writes = file.use(by: process) else { return nil }
            return FileHolder(process: HostProcess(ofThread: process), writes: writes)
        }
    }

    /// The file that is looked for.
    private struct File {
        let inode: UInt64
        let name: FileName

        /// - Returns: whether a process can write to the file; nil for one that does not hold it.
        func use(by process: pid_t) -> Bool? {
            var isHeld = false
            for number in (try? ProcDirectory.names(in: "/proc/\(process)/fd")) ?? [] {
                guard let target = try? HostPath.symbolicLinkTarget("/proc/\(process)/fd/\(number)"),
                    ends(Array(target.utf8)), let writes = writes(through: "/proc/\(process)/fdinfo/\(number)")
                else { continue }
                if writes { return true }
                isHeld = true
            }
            let maps = (try? HostPath.contents("/proc/\(process)/maps")) ?? []
            for line in maps.split(separator: UInt8(ascii: "\n")) where ends(line) {
                let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
                guard words.count == 6, UInt64(text(words[4])) == inode else { continue }
                if text(words[1]).hasSuffix("s"), text(words[1]).dropFirst().hasPrefix("w") { return true }
                isHeld = true
            }
            return isHeld ? false : nil
        }

        /// Whether a path's last name is the file's. The kernel puts a word behind the path of a removed file.
        private func ends(_ path: some BidirectionalCollection<UInt8>) -> Bool {
            let removed = " (deleted)".utf8
            return hasName(path[...])
                || path.suffix(removed.count).elementsEqual(removed) && hasName(path.dropLast(removed.count))
        }

        private func hasName(_ path: some BidirectionalCollection<UInt8>) -> Bool {
            let name = name.bytes
            guard path.suffix(name.count).elementsEqual(name) else { return false }
            return path.dropLast(name.count).last == UInt8(ascii: "/")
        }

        /// - Returns: whether a descriptor is open for writing; nil for one of another file.
        private func writes(through information: String) -> Bool? {
            var (number, flags) = (UInt64?.none, Int32?.none)
            for line in ((try? HostPath.contents(information)) ?? []).split(separator: UInt8(ascii: "\n")) {
                let words = text(line).split(whereSeparator: \.isWhitespace)
                guard words.count == 2 else { continue }
                switch words[0] {
                case "ino:": number = UInt64(words[1])
                case "flags:": flags = Int32(words[1], radix: 8)
                default: break
                }
            }
            guard number == inode, let flags else { return nil }
            return flags & O_ACCMODE != O_RDONLY
        }

        private func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    }
}
