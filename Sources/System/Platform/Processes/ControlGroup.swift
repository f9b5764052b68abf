// Control groups of the host: cgroups(7), version 2.

public import Glibc
public import SandboxModel

/// A directory of the hierarchy.
public struct ControlGroup: Hashable, Sendable {
    public let path: String

    /// The beginning of the names of groups that are made for one program.
    private static let prefix = "appcontainer-"

    /// The group of a process; nil where the host has no such hierarchy, or does not show it.
    public init?(of process: pid_t) {
        guard let root = ControlGroup.hierarchy,
            let text = try? HostPath.contents("/proc/\(process)/cgroup"),
            let line = text.split(separator: UInt8(ascii: "\n")).first(where: { $0.starts(with: "0::/".utf8) })
        else { return nil }
        let place = String(decoding: line.dropFirst("0::".utf8.count), as: UTF8.self)
        // A group above the root of this process's namespace shows as `/../`.
        guard !HostPath.names(of: place).contains("..") else { return nil }
        if root.root == "/" {
            path = place == "/" ? root.mountPoint : root.mountPoint + place
        } else {
            guard let rest = HostPath.rest(of: place, in: root.root) else { return nil }
            path = rest.isEmpty ? root.mountPoint : "\(root.mountPoint)/\(rest)"
        }
    }

    private init(path: String) {
        self.path = path
    }

    /// Looked up once: it stays where it is for the life of a process.
    private static let hierarchy = (try? MountInfo.all())?.last { $0.type == "cgroup2" }

    // MARK: A program's own group

    /// Makes a group for one program, below that of this process, and removes those that killed supervisors have left
    /// there.
    /// - Returns: nil where this process may not, as in a session that nobody has delegated to it.
    public static func forProgram() -> ControlGroup? {
        guard let own = ControlGroup(of: getpid()), HostPath.isWritable(own.path) else { return nil }
        own.removeAbandoned()
        for number in 0..<16 {
            let group = ControlGroup(path: "\(own.path)/\(prefix)\(getpid())-\(number)")
            do throws(SystemError) {
                try HostPath.makeDirectory(group.path, mode: 0o755)
            } catch {
                if error == .exists { continue }
                return nil
            }
            // A kernel before 5.2 has no freezer here.
            guard (try? HostPath.status("\(group.path)/cgroup.freeze")) != nil else {
                try? HostPath.removeDirectory(group.path)
                return nil
            }
            return group
        }
        return nil
    }

    /// Removes the empty groups of programs whose maker is gone. The kernel keeps those that are in use.
    private func removeAbandoned() {
        guard let directory = try? Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY) else { return }
        let reader = DirectoryReader(directory)
        while let entry = try? reader.next() {
            guard entry.name.text.hasPrefix(ControlGroup.prefix) else { continue }
            let number = entry.name.text.dropFirst(ControlGroup.prefix.count).prefix { $0 != "-" }
            guard let maker = pid_t(number), ProcessHandle(maker) == nil else { continue }
            try? HostPath.removeDirectory("\(path)/\(entry.name.text)")
        }
    }

    /// Whether its name is one of ``forProgram()``. Only that program and its descendants begin in it; but one of these
    /// may run an app of another device: see ``holdsOnly(membersOf:)``.
    public var isOfOneProgram: Bool {
        HostPath.names(of: path).last?.hasPrefix(ControlGroup.prefix) ?? false
    }

    /// Whether a process is in it, or in a group below.
    public func holds(_ process: pid_t) -> Bool {
        guard let group = ControlGroup(of: process) else { return false }
        return HostPath.rest(of: group.path, in: path) != nil
    }

    /// Whether all processes in it, and in groups below, are members of one's family (``ProcessFamily/members(of:)``).
    public func holdsOnly(membersOf root: pid_t) -> Bool {
        guard let all = processesAndBelow() else { return false }
        return all.allSatisfy { process in
            // Its parent may end between two steps to its ancestors, and the process itself may.
            (0..<4).contains { _ in ProcessFamily.isMember(process, of: root) || !holds(process) }
        }
    }

    /// - Returns: nil where this process may not see them all.
    private func processesAndBelow() -> [pid_t]? {
        var all: [pid_t]
        do throws(SystemError) {
            all = try members()
        } catch {
            // Removed meanwhile.
            return error == .noEntry || error.code == ENODEV ? [] : nil
        }
        guard let directory = try? Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY) else { return nil }
        let reader = DirectoryReader(directory)
        while let entry = try? reader.next() {
            let name = entry.name.text
            guard name != ".", name != "..", (try? HostPath.status("\(path)/\(name)"))?.kind == .directory else {
                continue
            }
            guard let below = ControlGroup(path: "\(path)/\(name)").processesAndBelow() else { return nil }
            all += below
        }
        return all
    }

    /// The processes in it, without those in groups below.
    public var processes: [pid_t] { (try? members()) ?? [] }

    private func members() throws(SystemError) -> [pid_t] {
        let text = try HostPath.contents("\(path)/cgroup.procs")
        return text.split(separator: UInt8(ascii: "\n")).compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
    }

    // MARK: The freezer

    /// Stops or continues everything in it and below. Takes effect later: see ``isFrozen``.
    /// - Throws: EACCES, EPERM or EROFS where this process may not.
    public func setFrozen(_ isFrozen: Bool) throws(SystemError) {
        try Descriptor.open(path: "\(path)/cgroup.freeze", flags: O_WRONLY).append(
            Array(isFrozen ? "1".utf8 : "0".utf8))
    }

    /// Whether everything in it and below is frozen. A process in the middle of a call that no signal interrupts is not
    /// yet.
    public var isFrozen: Bool {
        let text = (try? HostPath.contents("\(path)/cgroup.events")) ?? []
        return text.split(separator: UInt8(ascii: "\n")).contains { $0.elementsEqual("frozen 1".utf8) }
    }

    /// Removes it, once nothing is in it.
    public func remove() {
        try? HostPath.removeDirectory(path)
    }
}
