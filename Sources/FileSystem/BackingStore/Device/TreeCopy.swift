// Copying a tree of containers on the host, with all attributes.

import Glibc
public import Platform
public import SandboxModel

/// Copies one tree into an empty directory. Two walks side by side, so that depth costs no descriptors.
struct TreeCopy: ~Copyable {
    private let source: TreeWalk
    private let top: SharedDescriptor
    private let target: TreeCursor
    /// Of files with several names: the path of the first copied name.
    private var firstNames: [Inode: [FileName]] = [:]
    /// For each directory of the target on the way, the mode that shuts out its owner, which is set when the copy
    /// leaves.
    private var closed: [mode_t?] = []

    private struct Inode: Hashable {
        let device: dev_t
        let number: UInt64
    }

    init(from source: consuming Descriptor, to target: consuming Descriptor) {
        // Permissions do not matter to root's process.
        self.source = TreeWalk(SharedDescriptor(source), liftsModes: geteuid() != 0)
        top = SharedDescriptor(target)
        self.target = TreeCursor(top)
    }

    /// Copies everything. The modes of the source are as before when this value is gone; only a kill leaves them
    /// lifted.
    /// - Parameter progress: called with the bytes copied since the last call; false cancels.
    /// - Returns: false if cancelled.
    mutating func run(progress: (Int64) -> Bool) throws(SystemError) -> Bool {
        var failure: SystemError?
        while let from = source.next(failed: { error, _ in failure = error }) {
            if let failure { throw failure }
            if let name = source.name {
                while target.depth >= source.depth { try leave() }
                try target.enter(name)
                closed.append(source.liftedMode)
            }
            guard try copyDirectory(from, progress: progress) else { return false }
        }
        if let failure { throw failure }
        while target.depth > 0 { try leave() }
        return true
    }

    /// Leaves a directory of the target, which nothing more comes into.
    private mutating func leave() throws(SystemError) {
        let mode = closed.removeLast()
        guard let name = target.name else { return }
        guard target.leave() == 1 else { throw .stale }
        if let mode { try target.directory.descriptor.changeMode(of: name, to: mode) }
    }

    /// Copies a directory's entries, then its attributes, owner and mode, and last the times, which making entries
    /// changes.
    private mutating func copyDirectory(
        _ source: SharedDescriptor, progress: (Int64) -> Bool
    ) throws(SystemError) -> Bool {
        // Reopened, because fchmod(2) and its kin refuse an O_PATH descriptor.
        let to = try target.directory.descriptor.reopen(flags: O_RDONLY | O_DIRECTORY)
        // Before reading entries, which changes the time of access.
        let status = try source.descriptor.status()
        let reader = try source.descriptor.entries()
        while let entry = try reader.next() {
            guard try copyEntry(entry.name, from: source.descriptor, to: to, progress: progress) else { return false }
        }
        try TreeCopy.copyAttributes(from: AttributeHolder(source.descriptor), to: AttributeHolder(to))
        try to.changeOwner(status.owner, group: status.group)
        try to.changeMode(status.permissions)
        try to.changeTimes(access: status.raw.st_atim, modification: status.modificationTime)
        return true
    }

    /// Copies an entry; of a directory only the directory itself, whose entries come later.
    private mutating func copyEntry(
        _ name: FileName, from: borrowing Descriptor, to: borrowing Descriptor, progress: (Int64) -> Bool
    ) throws(SystemError) -> Bool {
        let status = try from.status(of: name)
        if status.kind == .directory {
            try to.makeDirectory(name, mode: S_IRWXU)
            source.add(name)
            return true
        }
        if status.linkCount > 1 {
            let inode = Inode(device: status.raw.st_dev, number: status.inode)
            if let first = firstNames[inode], let firstName = first.last {
                try top.descriptor.openDirectory(at: first.dropLast()).link(firstName, to: name, in: to)
                // Counted for each name, as `contentSize()` does.
                return progress(status.kind == .file ? status.size : 0)
            }
            firstNames[inode] = source.path + [name]
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
        let input = try from.openLiftingMode(name, status)
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
    /// Opens a file in this directory for reading. Where its mode keeps its own owner out, it has another for the
    /// moment of opening.
    /// - Parameter status: of the file.
    borrowing func openLiftingMode(_ name: FileName, _ status: FileStatus) throws(SystemError) -> Descriptor {
        guard geteuid() != 0, status.permissions & S_IRUSR == 0 else { return try open(name, flags: O_RDONLY) }
        try changeMode(of: name, to: status.hostPermissions | S_IRUSR)
        let file: Descriptor
        do throws(SystemError) {
            file = try open(name, flags: O_RDONLY)
        } catch {
            try? changeMode(of: name, to: status.hostPermissions)
            throw error
        }
        try file.changeMode(status.hostPermissions)
        return file
    }

    /// The sum of the sizes of all files below this directory, in bytes: the total of a copy's progress.
    public borrowing func contentSize() throws(SystemError) -> Int64 {
        var total: Int64 = 0
        let walk = try TreeWalk(self)
        while let directory = walk.next() {
            // An unreadable directory does not count.
            guard let reader = try? directory.descriptor.entries() else { continue }
            while let entry = try reader.next() {
                guard let status = try? directory.descriptor.status(of: entry.name) else { continue }
                switch status.kind {
                case .directory: walk.add(entry.name)
                case .file: total += status.size
                case .symbolicLink, .fifo, .socket, .device: continue
                }
            }
        }
        return total
    }
}
