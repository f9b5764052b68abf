// Where an output of a command goes, by a path that the user named: to a file that is made or replaced, or to a stream.

public import Glibc
public import SandboxModel

/// The place that an output path leads to. The superuser's process follows root's links only: another user, who may
/// write in a directory of the path, has no say in what root writes to.
public struct OutputPlace: Sendable {
    private let directory: SharedDescriptor
    private let name: FileName
    /// The name is a link of /proc to an open file, which only the kernel can follow.
    private let isMagic: Bool
    /// Whether a pipe, a terminal or another device is there: it is written to, and stays.
    public let isStream: Bool
    /// The permissions of the file that is there; nil for none, and for a link.
    public let mode: mode_t?

    /// - Parameter path: absolute.
    /// - Throws: errors of openat(2); EISDIR for a path without a last name.
    public init(of path: String) throws(SystemError) {
        var walk = try LinkWalk()
        self = try OutputPlace.find(path.utf8.split(separator: UInt8(ascii: "/")).map(Array.init), by: &walk)
    }

    private init(
        _ directory: SharedDescriptor, _ name: FileName, stream: Bool, magic: Bool = false, mode: mode_t? = nil
    ) {
        (self.directory, self.name, isStream, isMagic, self.mode) = (directory, name, stream, magic, mode)
    }

    private static func find(_ parts: [[UInt8]], by walk: inout LinkWalk) throws(SystemError) -> OutputPlace {
        guard let last = parts.last, let name = FileName(last) else { throw .isDirectory }
        try walk.go(through: parts.dropLast())
        let directory = walk.directory
        let status: FileStatus
        do throws(SystemError) {
            status = try directory.descriptor.status(of: name)
        } catch {
            guard error == .noEntry else { throw error }
            return OutputPlace(directory, name, stream: false)
        }
        switch status.kind {
        case .file, .directory: return OutputPlace(directory, name, stream: false, mode: status.permissions)
        case .device: return OutputPlace(directory, name, stream: true)
        case .fifo, .socket:
            guard LinkWalk.isOwn(status) else { throw .accessDenied }
            return OutputPlace(directory, name, stream: true)
        case .symbolicLink:
            // It is replaced itself: its owner has chosen the target.
            guard LinkWalk.isOwn(status) else { return OutputPlace(directory, name, stream: false) }
            if try LinkWalk.isProcess(directory) { return OutputPlace(directory, name, stream: true, magic: true) }
            let target = try walk.follow(name)
            // A link to a file is replaced too, and a link to a stream is not.
            guard let end = try? find(target, by: &walk), end.isStream else {
                return OutputPlace(directory, name, stream: false)
            }
            return end
        }
    }

    /// Opens the stream for writing, at its end.
    public func open() throws(SystemError) -> Descriptor {
        let flags = O_WRONLY | O_APPEND | O_NOCTTY
        guard isMagic else { return try directory.descriptor.open(name, flags: flags) }
        return try Descriptor.open(path: "/proc/self/fd/\(directory.descriptor.number)/\(name.text)", flags: flags)
    }
}

extension Descriptor {
    /// `openat(2)` of each part of a path, for a directory in which this process writes, or that it tells about. The
    /// superuser's process follows root's links only.
    /// - Parameter path: absolute.
    /// - Throws: EACCES for a link of another user; ENAMETOOLONG.
    public static func openDirectory(byOwnLinks path: String) throws(SystemError) -> Descriptor {
        guard !path.isEmpty else { throw .noEntry }
        var walk = try LinkWalk()
        try walk.go(through: path.utf8.split(separator: UInt8(ascii: "/")).map(Array.init))
        return try walk.directory.descriptor.reopen(flags: O_RDONLY | O_DIRECTORY)
    }
}

/// A walk along a path, one part at a time. It follows a link only if that is this process's own.
private struct LinkWalk {
    private(set) var directory: SharedDescriptor
    private var links = 0

    /// As many as the kernel follows in one path.
    private static let mostLinks = 40
    /// PROC_SUPER_MAGIC of statfs(2).
    private static let processes: Int64 = 0x9FA0

    init() throws(SystemError) {
        directory = SharedDescriptor(try Descriptor.openDirectory(path: "/"))
    }

    /// Whether a link may be followed, or a pipe written to: by root, if it is root's.
    static func isOwn(_ status: FileStatus) -> Bool { geteuid() != 0 || status.owner == 0 }

    /// Whether a directory is one of /proc.
    static func isProcess(_ directory: SharedDescriptor) throws(SystemError) -> Bool {
        try directory.descriptor.filesystemType().type == processes
    }

    mutating func go(through parts: some Collection<[UInt8]>) throws(SystemError) {
        var rest = Array(parts.reversed())
        while let part = rest.popLast() {
            if part == [UInt8(ascii: ".")] { continue }
            guard let name = FileName(part) else {
                guard part.count <= FileName.maximumLength else { throw .nameTooLong }
                guard part == Array("..".utf8) else { throw .invalid }
                directory = SharedDescriptor(try directory.descriptor.openParent())
                continue
            }
            let node = SharedDescriptor(try directory.descriptor.openNode(name))
            let status = try node.descriptor.status()
            switch status.kind {
            case .directory: directory = node
            case .symbolicLink:
                guard LinkWalk.isOwn(status) else { throw .accessDenied }
                rest += try follow(name).reversed()
            default: throw .notDirectory
            }
        }
    }

    /// The parts that a link of the present directory stands for. An absolute one begins at the root.
    mutating func follow(_ name: FileName) throws(SystemError) -> [[UInt8]] {
        links += 1
        guard links <= LinkWalk.mostLinks else { throw SystemError(code: ELOOP) }
        let target = try directory.descriptor.symbolicLinkTarget(name)
        if target.first == UInt8(ascii: "/") { directory = SharedDescriptor(try Descriptor.openDirectory(path: "/")) }
        return target.split(separator: UInt8(ascii: "/")).map(Array.init)
    }
}
