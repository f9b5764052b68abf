// The files and directories of the host that are to be delivered, looked through before anything is copied.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// A file or directory of the host that is to be delivered.
struct DeliverySource: Sendable {
    /// As the user named it.
    let path: String
    /// Its own name.
    let name: FileName
    /// Bytes of its files.
    let size: Int64
    let isDirectory: Bool

    /// - Parameter device: where the copy will lie. A directory that holds the device's staging directory is refused:
    ///   each copy would be a part of what is still to be copied.
    /// - Throws: ``Complaint`` of kind `notFound` or `unsuitableFile`.
    init(_ path: String, notAround device: DeviceDirectory) throws(Complaint) {
        guard !path.isEmpty else { throw Complaint(.notFound, "an empty path names no file to deliver") }
        let status: FileStatus
        let resolved: String
        do throws(SystemError) {
            (status, resolved) = try ActingUser.reaching(path) { () throws(SystemError) in
                (try HostPath.status(path), try HostPath.resolved(path))
            }
        } catch {
            if error == .noEntry || error == .notDirectory {
                throw Complaint(.notFound, "\(path) does not exist; name a file or directory that does")
            }
            throw Complaint(named: error, doing: "cannot open \(path)")
        }
        guard status.kind == .file || status.kind == .directory else {
            throw Complaint(.unsuitableFile, "\(path) is neither a file nor a directory")
        }
        // As it was named; but `.` and `..` are not names.
        guard let name = (Self.lastName(path) ?? Self.lastName(resolved)) else {
            throw Complaint(.unsuitableFile, "\(path) has no name that a file in an Inbox can have")
        }
        self.path = path
        self.name = name
        isDirectory = status.kind == .directory
        guard isDirectory else {
            size = status.size
            return
        }
        let (size, special, isEndless) = try Complaint.wrap("cannot look through \(path)") { () throws(SystemError) in
            try Self.look(through: path, into: device)
        }
        if isEndless {
            throw Complaint(
                .unsuitableFile,
                "cannot copy the directory \(path) into itself: the copy would be made in it, in \(device.path)")
        }
        if let special {
            throw Complaint(
                .unsuitableFile, "\(path)/\(special.text) is neither a file, a directory nor a symbolic link")
        }
        self.size = size
    }

    /// - Returns: the bytes of the files below a directory, the first entry that cannot be delivered, and whether the
    ///   copy would be made in the directory.
    private static func look(
        through path: String, into device: DeviceDirectory
    ) throws(SystemError) -> (size: Int64, special: [FileName]?, isEndless: Bool) {
        // Asked first, because a directory above the device may be the whole host.
        if try HostPath.holds(path, device.path) { return (0, nil, true) }
        // Where the device is bound to a second place, the path does not show it.
        let staging = try device.staging().status().identity
        let root = try ActingUser.reaching(path) { () throws(SystemError) in
            try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY)
        }
        if try root.status().identity == staging { return (0, nil, true) }
        let walk = try TreeWalk(root)
        var size: Int64 = 0
        var failure: SystemError?
        while let directory = walk.next(failed: { error, _ in failure = error }) {
            let reader = try directory.descriptor.entries()
            while let entry = try reader.next() {
                let status = try directory.descriptor.status(of: entry.name)
                switch status.kind {
                case .directory where status.identity == staging: return (size, nil, true)
                case .directory: walk.add(entry.name)
                case .file: size += status.size
                case .symbolicLink: continue
                case .fifo, .socket, .device: return (size, walk.path + [entry.name], false)
                }
            }
        }
        if let failure { throw failure }
        return (size, nil, false)
    }

    /// The last part of a path; nil where it is no name, as in `/`, `.` and `..`.
    private static func lastName(_ path: String) -> FileName? {
        path.split(separator: "/").last.flatMap { FileName($0.utf8) }
    }

    /// The name of the copy in the staging directory: its number, as two sources may have the same name.
    static func stagedName(_ index: Int) -> FileName { FileName("\(index)")! }
}
