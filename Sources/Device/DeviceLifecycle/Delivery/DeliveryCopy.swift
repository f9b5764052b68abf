// The copy of a delivered file or directory: from the host's files into encrypted ones.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// Copies one source into the staging directory. Directories are walked with a list of paths, so that depth costs
/// neither descriptors nor stack.
struct DeliveryCopy {
    /// The user of the copies.
    let owner: ContainerOwner
    let context: StoreContext

    /// - Parameter progress: gets the number of bytes copied since its last call; false ends the copy.
    /// - Returns: false when `progress` ended it.
    func run(
        _ source: DeliverySource, to target: borrowing Descriptor, as name: FileName, progress: (Int64) -> Bool
    ) throws(Fault) -> Bool {
        let input = try onHost { () throws(SystemError) in
            try ActingUser.reaching(source.path) { () throws(SystemError) in
                try Descriptor.open(path: source.path, flags: O_RDONLY | O_NONBLOCK)
            }
        }
        guard source.isDirectory else { return try copyFile(input, to: target, as: name, progress: progress) }
        let top = try onHost { () throws(SystemError) in try makeDirectory(name, in: target, like: input.status()) }
        let walk = try onHost { () throws(SystemError) in try TreeWalk(input) }
        let copy = TreeCursor(SharedDescriptor(top))
        var failure: SystemError?
        while let from = walk.next(failed: { error, _ in failure = error }) {
            if let name = walk.name {
                while copy.depth >= walk.depth { copy.leave() }
                try onHost { () throws(SystemError) in try copy.enter(name) }
            }
            guard try copyDirectory(walk, from: from.descriptor, to: copy.directory.descriptor, progress: progress)
            else { return false }
        }
        if let failure { throw .system(failure) }
        return true
    }

    /// Copies the entries of one directory, and has the walk come into its subdirectories.
    /// - Returns: false when `progress` ended the copy.
    private func copyDirectory(
        _ walk: TreeWalk, from: borrowing Descriptor, to: borrowing Descriptor, progress: (Int64) -> Bool
    ) throws(Fault) -> Bool {
        let reader = try onHost { () throws(SystemError) in try from.entries() }
        while let entry = try onHost({ () throws(SystemError) in try reader.next() }) {
            let status = try onHost { () throws(SystemError) in try from.status(of: entry.name) }
            switch status.kind {
            case .directory:
                _ = try onHost { () throws(SystemError) in try makeDirectory(entry.name, in: to, like: status) }
                walk.add(entry.name)
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

    /// - Parameter status: of the source, whose mode the copy has; its owner can always use it.
    private func makeDirectory(
        _ name: FileName, in parent: borrowing Descriptor, like status: FileStatus
    ) throws(SystemError) -> Descriptor {
        try parent.makeDirectory(name, for: owner)
        try parent.changeMode(of: name, to: status.permissions & 0o777 | S_IRWXU)
        return try parent.openDirectory(name)
    }

    /// Encrypts one file under the class of new files.
    private func copyFile(
        _ input: borrowing Descriptor, to target: borrowing Descriptor, as name: FileName, progress: (Int64) -> Bool
    ) throws(Fault) -> Bool {
        let status = try onHost { () throws(SystemError) in try input.status() }
        // It was a file when it was looked at.
        guard status.kind == .file else { throw .system(.invalid) }
        var finished = true
        let mode = status.permissions & 0o777 | S_IRUSR | S_IWUSR
        let file = NewFile(name, mode: mode, owner: owner, protection: .standard)
        try file.write(in: target, context: context) { (file) throws(Fault) in
            finished = try copyContent(of: input, length: status.size, to: file, progress: progress)
        }
        return finished
    }

    /// Copies the content. Holes stay holes.
    /// - Parameter length: of the source, when the copy began.
    private func copyContent(
        of input: borrowing Descriptor, length: Int64, to file: EncryptedFile, progress: (Int64) -> Bool
    ) throws(Fault) -> Bool {
        // 1 MiB: a large file takes few calls, and progress comes often enough to cancel.
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
