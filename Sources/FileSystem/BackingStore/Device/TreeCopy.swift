// Copying a tree of containers on the host, with all attributes.

import Glibc
public import Platform
public import SandboxModel

/// Copies one tree into an empty directory. Each directory is opened by its path from the top, so depth costs no
/// descriptors.
struct TreeCopy: ~Copyable {
    private let source: Descriptor
    private let target: Descriptor
    /// Directories to copy, by path from the top.
    private var pending: [[FileName]] = [[]]
    /// Of files with several names: the path of the first copied name.
    private var firstNames: [Inode: [FileName]] = [:]
    /// Directories whose mode shuts out their owner. The mode is lifted in the source during the copy, and set in the
    /// target at the end.
    private var closed: [(path: [FileName], mode: mode_t)] = []
    /// Whether permissions do not matter: the process is root's.
    private let isPrivileged = geteuid() == 0

    private struct Inode: Hashable {
        let device: dev_t
        let number: UInt64
    }

    init(from source: consuming Descriptor, to target: consuming Descriptor) {
        self.source = source
        self.target = target
    }

    /// Copies everything. The modes of the source are as before when this returns; only a kill leaves them lifted.
    /// - Parameter progress: called with the bytes copied since the last call; false cancels.
    /// - Returns: false if cancelled.
    mutating func run(progress: (Int64) -> Bool) throws(SystemError) -> Bool {
        do throws(SystemError) {
            while let path = pending.popLast() {
                guard try copyDirectory(path, progress: progress) else {
                    try TreeCopy.close(closed, in: source)
                    return false
                }
            }
        } catch {
            try? TreeCopy.close(closed, in: source)
            throw error
        }
        try TreeCopy.close(closed, in: source)
        try TreeCopy.close(closed, in: target)
        return true
    }

    private static func close(
        _ directories: [(path: [FileName], mode: mode_t)], in root: borrowing Descriptor
    ) throws(SystemError) {
        // The deepest first: a closed directory shuts off those below.
        for (path, mode) in directories.sorted(by: { $0.path.count > $1.path.count }) {
            guard let name = path.last else { continue }
            try root.openDirectory(at: path.dropLast()).changeMode(of: name, to: mode)
        }
    }

    /// Copies a directory's entries, then its attributes, owner and mode, and last the times, which making entries
    /// changes.
    private mutating func copyDirectory(_ path: [FileName], progress: (Int64) -> Bool) throws(SystemError) -> Bool {
        let from = try source.openDirectory(at: path)
        // Reopened, because fchmod(2) and its kin refuse an O_PATH descriptor.
        let to = try target.openDirectory(at: path).reopen(flags: O_RDONLY | O_DIRECTORY)
        // Before reading entries, which changes the time of access.
        let status = try from.status()
        let reader = try from.entries()
        while let entry = try reader.next() {
            guard try copyEntry(entry.name, path, from: from, to: to, progress: progress) else { return false }
        }
        try TreeCopy.copyAttributes(from: AttributeHolder(from), to: AttributeHolder(to))
        try to.changeOwner(status.owner, group: status.group)
        try to.changeMode(status.permissions)
        try to.changeTimes(access: status.raw.st_atim, modification: status.modificationTime)
        return true
    }

    /// Copies an entry; of a directory only the directory itself, whose entries come later.
    private mutating func copyEntry(
        _ name: FileName, _ path: [FileName], from: borrowing Descriptor, to: borrowing Descriptor,
        progress: (Int64) -> Bool
    ) throws(SystemError) -> Bool {
        let status = try from.status(of: name)
        if status.kind == .directory {
            try to.makeDirectory(name, mode: S_IRWXU)
            if !isPrivileged, status.permissions & S_IRWXU != S_IRWXU {
                closed.append((path + [name], status.permissions))
                try from.changeMode(of: name, to: status.permissions | S_IRWXU)
            }
            pending.append(path + [name])
            return true
        }
        if status.linkCount > 1 {
            let inode = Inode(device: status.raw.st_dev, number: status.inode)
            if let first = firstNames[inode], let firstName = first.last {
                try target.openDirectory(at: first.dropLast()).link(firstName, to: name, in: to)
                // Counted for each name, as `contentSize()` does.
                return progress(status.kind == .file ? status.size : 0)
            }
            firstNames[inode] = path + [name]
        }
        switch status.kind {
        case .file:
            return try copyFile(name, status, from: from, to: to, progress: progress)
        case .symbolicLink:
            try to.makeSymbolicLink(name, target: try from.symbolicLinkTarget(name))
        case .fifo, .socket, .device:
            try to.makeNode(name, mode: status.mode)
        case .directory:
            preconditionFailure("directories are handled above")
        }
        try to.changeOwner(of: name, to: status.owner, group: status.group)
        if status.kind != .symbolicLink { try to.changeMode(of: name, to: status.permissions) }
        try to.changeTimes(of: name, access: status.raw.st_atim, modification: status.modificationTime)
        return true
    }

    /// Copies a file's content, attributes, owner, mode and times.
    private func copyFile(
        _ name: FileName, _ status: FileStatus, from: borrowing Descriptor, to: borrowing Descriptor,
        progress: (Int64) -> Bool
    ) throws(SystemError) -> Bool {
        // For the moment of opening: a file's owner may have no permission to read it.
        let lifted = !isPrivileged && status.permissions & S_IRUSR == 0
        if lifted { try from.changeMode(of: name, to: status.hostPermissions | S_IRUSR) }
        let input: Descriptor
        do throws(SystemError) {
            input = try from.open(name, flags: O_RDONLY)
        } catch {
            if lifted { try? from.changeMode(of: name, to: status.hostPermissions) }
            throw error
        }
        if lifted { try input.changeMode(status.hostPermissions) }
        let output = try to.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR)
        guard try output.copyContent(of: input, progress: progress) else { return false }
        try TreeCopy.copyAttributes(from: AttributeHolder(file: input), to: AttributeHolder(file: output))
        try output.changeOwner(status.owner, group: status.group)
        // No backing file has a set-ID bit (`NodeModes`): one that was put there stays behind.
        try output.changeMode(status.hostPermissions)
        try output.changeTimes(access: status.raw.st_atim, modification: status.modificationTime)
        return true
    }

    /// Copies the attributes of the namespace `user.`. Those of others belong to the host.
    private static func copyAttributes(
        from source: AttributeHolder, to target: AttributeHolder
    ) throws(SystemError) {
        for name in try source.names() where name.starts(with: "user.".utf8) {
            try target.set(name, to: try source.value(of: name))
        }
    }
}

extension Descriptor {
    /// The sum of the sizes of all files below this directory, in bytes: the total of a copy's progress.
    public borrowing func contentSize() throws(SystemError) -> Int64 {
        var pending: [[FileName]] = [[]]
        var total: Int64 = 0
        while let path = pending.popLast() {
            // An unreadable directory does not count.
            guard let directory = try? openDirectory(at: path), let reader = try? directory.entries() else { continue }
            while let entry = try reader.next() {
                guard let status = try? directory.status(of: entry.name) else { continue }
                switch status.kind {
                case .directory: pending.append(path + [entry.name])
                case .file: total += status.size
                case .symbolicLink, .fifo, .socket, .device: continue
                }
            }
        }
        return total
    }
}
