// A directory of the host to mount at, found once and held from then on.

import CPlatform
import Glibc
public import SandboxModel

/// A directory to mount at, by a descriptor of its parent and its name there.
///
/// Between two calls with a path, another user may rename a directory above and put a link in its place. The kernel
/// renames no directory that is a mount point, so parent and name lead to the same mount as long as it is there.
public final class MountPlace: Sendable {
    /// Absolute, without symbolic links, as it was when the place was found. For messages, and as
    /// /proc/self/mountinfo shows it.
    public let path: String
    private let parent: Descriptor
    private let name: FileName
    /// The directory itself, below a mount that is made there later.
    private let directory: Descriptor

    /// `open(2)` with `O_PATH`: follows every link of the path, once.
    /// - Throws: ENOENT, ENOTDIR; EBUSY for the root directory; ESTALE if it was moved meanwhile.
    public init(_ path: String) throws(SystemError) {
        let target = try ActingUser.asSuperuser { () throws(SystemError) in
            try Descriptor.openDirectory(path: path)
        }
        let found = try HostPath.symbolicLinkTarget("/proc/self/fd/\(target.number)")
        guard let place = HostPath.place(of: found) else { throw .busy }
        let parent = try ActingUser.asSuperuser { () throws(SystemError) in
            try Descriptor.openDirectory(path: place.directory)
        }
        let directory = try ActingUser.asSuperuser { () throws(SystemError) in
            try parent.openDirectory(place.name)
        }
        // stat(2) of a dead mount fails; it is known by its number.
        guard directory.mountNumber == target.mountNumber,
            (try? directory.status().identity) == (try? target.status().identity)
        else { throw .stale }
        self.path = found
        name = place.name
        self.parent = parent
        self.directory = directory
    }

    /// The path by which this process finds the directory, or what is mounted at it, wherever it was moved to.
    public var current: String { "/proc/self/fd/\(parent.number)/\(name.text)" }

    /// The path of the directory below all that is mounted there later.
    var target: String { "/proc/self/fd/\(directory.number)" }

    /// The root of what is mounted at the directory.
    func openMounted() throws(SystemError) -> Descriptor { try parent.openDirectory(name) }

    /// The topmost mount at the directory; nil where nothing is mounted.
    public func mount() -> MountInfo? {
        ActingUser.asSuperuser {
            let there = try? parent.openDirectory(name).mountInfo
            return there?.number == parent.mountNumber ? nil : there
        }
    }

    /// `fstat(2)` and `openat(2)` of `..`: the directory, and then each above it, up to the root.
    /// - Parameter body: returns whether to go on.
    public func ascend(_ body: (borrowing Descriptor) throws(SystemError) -> Bool) throws(SystemError) {
        try ActingUser.asSuperuser { () throws(SystemError) in try directory.ascend(body) }
    }

    /// The type of the directory's filesystem, such as `ext4`; nil where /proc does not tell.
    public var filesystemType: String? { directory.mountInfo?.type }
}

extension Descriptor {
    /// The number of the mount that the descriptor leads to, as /proc/self/mountinfo has it; nil where /proc is not
    /// mounted. Asks no filesystem, so that it works on a mount whose server has died.
    var mountNumber: UInt64? {
        guard let text = try? HostPath.contents("/proc/self/fdinfo/\(number)") else { return nil }
        let newline: Character = "\n"
        let line = String(decoding: text, as: UTF8.self).split(separator: newline).first { $0.hasPrefix("mnt_id:") }
        return line.flatMap { UInt64($0.dropFirst("mnt_id:".count).filter { !$0.isWhitespace }) }
    }

    /// The mount that the descriptor leads to; nil where /proc is not mounted.
    public var mountInfo: MountInfo? {
        if let info = MountNumber(of: self)?.info { return info }
        guard let number = mountNumber else { return nil }
        return try? MountInfo.numbered(number)
    }

    /// `fstat(2)` and `openat(2)` of `..`: this directory, and then each above it, up to the root.
    /// - Parameter body: returns whether to go on.
    public borrowing func ascend(_ body: (borrowing Descriptor) throws(SystemError) -> Bool) throws(SystemError) {
        var current = try duplicate()
        while try body(current) {
            let above = try current.openParent()
            // The root is its own parent. Of two mounts of a directory the numbers differ.
            guard try above.status().identity != current.status().identity || above.mountNumber != current.mountNumber
            else { return }
            current = above
        }
    }
}
