// Copying what is delivered: from the host's files into encrypted ones.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// A file or directory of the host that is to be delivered.
struct DeliverySource: Sendable {
    let path: String
    /// Its own name.
    let name: FileName
    /// Bytes of its files.
    let size: Int64
    fileprivate let isDirectory: Bool

    /// - Parameter device: where the copy will lie: a directory that holds its staging directory has no end, since
    ///   each copy would be in what is still to be copied.
    init(_ path: String, notAround device: DeviceDirectory) throws(Complaint) {
        guard !path.isEmpty else { throw Complaint(.notFound, "an empty path names no file to deliver") }
        let status: FileStatus
        let resolved: String
        do throws(SystemError) {
            status = try HostPath.status(path)
            resolved = try HostPath.resolved(path)
        } catch {
            if error == .noEntry || error == .notDirectory {
                throw Complaint(.notFound, "\(path) does not exist; name a file or directory that does")
            }
            throw Complaint(error, doing: "cannot open \(path)")
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

    /// The bytes of the files below a directory, the first entry that cannot be delivered, and whether the copy would
    /// be made in the directory.
    private static func look(
        through path: String, into device: DeviceDirectory
    ) throws(SystemError) -> (size: Int64, special: [FileName]?, isEndless: Bool) {
        // Asked first, because a directory above the device may be the whole host.
        if try HostPath.holds(path, device.path) { return (0, nil, true) }
        // Where the device is bound to a second place, nothing above that place tells.
        let staging = try device.staging().status().identity
        let root = try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY)
        if try root.status().identity == staging { return (0, nil, true) }
        var pending: [[FileName]] = [[]]
        var size: Int64 = 0
        while let path = pending.popLast() {
            let directory = try root.openDirectory(at: path)
            let reader = try directory.entries()
            while let entry = try reader.next() {
                let status = try directory.status(of: entry.name)
                switch status.kind {
                case .directory where status.identity == staging: return (size, nil, true)
                case .directory: pending.append(path + [entry.name])
                case .file: size += status.size
                case .symbolicLink: continue
                case .fifo, .socket, .device: return (size, path + [entry.name], false)
                }
            }
        }
        return (size, nil, false)
    }

    private static func lastName(_ path: String) -> FileName? {
        path.split(separator: "/").last.flatMap { FileName($0.utf8) }
    }

    static func stagedName(_ index: Int) -> FileName { FileName("\(index)")! }
}

/// Copies one source into the staging directory. Depth costs no descriptors.
struct DeliveryCopy {
    let owner: ContainerOwner
    let context: StoreContext

    /// - Parameter progress: told how many bytes more are copied; false ends the copy.
    /// - Returns: false when `progress` ended it.
    func run(
        _ source: DeliverySource, to target: borrowing Descriptor, as name: FileName, progress: (Int64) -> Bool
    ) throws(Fault) -> Bool {
        let input = try onHost { () throws(SystemError) in
            try Descriptor.open(path: source.path, flags: O_RDONLY | O_NONBLOCK)
        }
        guard source.isDirectory else { return try copyFile(input, to: target, as: name, progress: progress) }
        let top = try onHost { () throws(SystemError) in try makeDirectory(name, in: target, like: input.status()) }
        var pending: [[FileName]] = [[]]
        while let path = pending.popLast() {
            guard try copyDirectory(path, from: input, to: top, pending: &pending, progress: progress) else {
                return false
            }
        }
        return true
    }

    private func copyDirectory(
        _ path: [FileName], from source: borrowing Descriptor, to target: borrowing Descriptor,
        pending: inout [[FileName]], progress: (Int64) -> Bool
    ) throws(Fault) -> Bool {
        let from = try onHost { () throws(SystemError) in try source.openDirectory(at: path) }
        let to = try onHost { () throws(SystemError) in try target.openDirectory(at: path) }
        let reader = try onHost { () throws(SystemError) in try from.entries() }
        while let entry = try onHost({ () throws(SystemError) in try reader.next() }) {
            let status = try onHost { () throws(SystemError) in try from.status(of: entry.name) }
            switch status.kind {
            case .directory:
                _ = try onHost { () throws(SystemError) in try makeDirectory(entry.name, in: to, like: status) }
                pending.append(path + [entry.name])
            case .symbolicLink:
                try onHost { () throws(SystemError) in
                    try to.makeSymbolicLink(entry.name, target: try from.symbolicLinkTarget(entry.name))
                    try to.give(entry.name, to: owner)
                }
            case .file:
                let input = try onHost { () throws(SystemError) in
                    try from.open(entry.name, flags: O_RDONLY | O_NONBLOCK)
                }
                guard try copyFile(input, to: to, as: entry.name, progress: progress) else { return false }
            case .fifo, .socket, .device:
                // It was not there when the directory was looked through.
                throw .system(.invalid)
            }
        }
        return true
    }

    private func makeDirectory(
        _ name: FileName, in parent: borrowing Descriptor, like status: FileStatus
    ) throws(SystemError) -> Descriptor {
        try parent.makeDirectory(name, for: owner)
        try parent.changeMode(of: name, to: status.permissions & 0o777 | S_IRWXU)
        return try parent.openDirectory(name)
    }

    private func copyFile(
        _ input: borrowing Descriptor, to target: borrowing Descriptor, as name: FileName, progress: (Int64) -> Bool
    ) throws(Fault) -> Bool {
        let status = try onHost { () throws(SystemError) in try input.status() }
        // It was a file when it was looked at.
        guard status.kind == .file else { throw .system(.invalid) }
        var finished = true
        let mode = status.permissions & 0o777 | S_IRUSR | S_IWUSR
        try DataContainer.writeFile(
            name, in: target, mode: mode, owner: owner, protection: .standard, context: context
        ) { (file) throws(Fault) in
            finished = try copyContent(of: input, length: status.size, to: file, progress: progress)
        }
        return finished
    }

    /// Holes stay holes.
    private func copyContent(
        of input: borrowing Descriptor, length: Int64, to file: EncryptedFile, progress: (Int64) -> Bool
    ) throws(Fault) -> Bool {
        let buffer = PageBuffer(count: 1 << 20)
        var position: Int64 = 0
        while position < length,
            let start = try onHost({ () throws(SystemError) in try input.nextData(from: position) }), start < length
        {
            guard progress(start - position) else { return false }
            position = start
            let end = min(try onHost { () throws(SystemError) in try input.nextHole(from: start) }, length)
            while position < end {
                let wanted = Int(min(end - position, Int64(buffer.count)))
                let got = try onHost { () throws(SystemError) in
                    try input.read(into: buffer, count: wanted, from: position)
                }
                // The source became shorter than it was.
                guard got > 0 else { return true }
                try buffer.withBytes(0, count: got) { (bytes) throws(Fault) in
                    _ = try file.write(bytes, at: position)
                }
                position += Int64(got)
                guard progress(Int64(got)) else { return false }
            }
        }
        if file.length < length { try file.truncate(to: length) }
        return progress(length - position)
    }
}
