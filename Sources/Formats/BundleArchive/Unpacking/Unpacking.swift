// Writing the entries of an archive, through directory descriptors, so that no symbolic link is followed.

import Glibc
import Platform
import SandboxModel

/// The unpacking of one app: directories, then files, then links, then the directories' attributes.
struct Unpacking: ~Copyable {
    let contents: ArchiveContents
    private let root: Descriptor
    private let buffer = PageBuffer(count: 256 << 10)
    /// The directory of the last entry, which is mostly that of the next entry too.
    private var parent: (node: Int, directory: SharedDescriptor)?
    /// The targets of symbolic links by node.
    var targets: [Int: [UInt8]] = [:]
    /// The attributes of directories and links by node, where they have entries of their own.
    var attributes: [Int: (permissions: mode_t, modification: timespec)] = [:]

    /// - Parameter root: the directory into which the app's directory goes.
    init(_ contents: ArchiveContents, into root: consuming Descriptor) {
        self.contents = contents
        self.root = root
    }

    /// Unpacks the app.
    /// - Returns: false when cancelled.
    mutating func run(_ reader: inout ArchiveReader, progress: (Int64) -> Bool) throws(ArchiveFault) -> Bool {
        for node in contents.tree.nodes.indices where isInApp(node, .directory) {
            let (parent, name) = try place(of: node)
            try onHost { () throws(SystemError) in
                try parent.descriptor.makeDirectory(name, mode: S_IRWXU)
            }
            guard progress(0) else { return false }
        }
        for entry in contents.entries {
            guard try unpack(entry, &reader, progress) else { return false }
        }
        let excess = try Unpacking.reading(nil) { () throws(ArchiveReader.Failure) in try reader.next() }
        if excess != nil { throw .contradiction }
        guard try makeLinks(progress) else { return false }
        return try finishDirectories(progress)
    }

    /// Whether a node is of a kind, and is the app or lies in it.
    func isInApp(_ node: Int, _ kind: EntryTree.Kind) -> Bool {
        contents.isInApp[node] && contents.tree.nodes[node].kind == kind
    }

    /// The directory that a node lies in, and its name there.
    mutating func place(of node: Int) throws(ArchiveFault) -> (SharedDescriptor, FileName) {
        let (tree, above) = (contents.tree, contents.tree.nodes[node].parent)
        if let parent, parent.node == above { return (parent.directory, tree.nodes[node].name) }
        // The app itself goes directly into the root, without `Payload`.
        let path = node == contents.app ? [] : tree.path(of: above, below: tree.nodes[contents.app].parent)
        let directory = try onHost { () throws(SystemError) in try root.openDirectory(at: path) }
        let shared = SharedDescriptor(directory)
        parent = (above, shared)
        return (shared, tree.nodes[node].name)
    }

    /// Runs a call of libarchive, and throws its failure as a fault of an entry, or of the archive.
    private static func reading<Result>(
        _ entry: ArchiveContents.Entry?, _ body: () throws(ArchiveReader.Failure) -> Result
    ) throws(ArchiveFault) -> Result {
        do throws(ArchiveReader.Failure) {
            return try body()
        } catch {
            switch error {
            case .host(let error): throw .host(error)
            case .damaged: throw entry.map(damaged) ?? .contradiction
            }
        }
    }

    private static func damaged(_ entry: ArchiveContents.Entry) -> ArchiveFault {
        .refused("\(entry.record.name.shown) is damaged")
    }

    /// Unpacks the next entry, which libarchive and the central directory have to describe alike.
    /// - Returns: false when cancelled.
    private mutating func unpack(
        _ entry: ArchiveContents.Entry, _ reader: inout ArchiveReader, _ progress: (Int64) -> Bool
    ) throws(ArchiveFault) -> Bool {
        let record = entry.record
        let next = try Unpacking.reading(entry) { () throws(ArchiveReader.Failure) in try reader.next() }
        guard let header = next else { throw .contradiction }
        // libarchive warns of names outside ASCII, which it cannot convert in every locale. Its names are not used.
        guard !header.isDoubtful || record.isMarkedUTF8 && record.name.contains(where: { $0 >= 0x80 }) else {
            throw Unpacking.damaged(entry)
        }
        // Both must be at the same entry. Of a link, libarchive has read the target already.
        guard header.type == S_IFLNK || header.position == record.content else { throw .contradiction }
        guard contents.isInApp[entry.node] else { return progress(0) }
        switch entry.kind {
        case .directory:
            attributes[entry.node] = (entry.permissions, header.modification)
        case .symbolicLink:
            targets[entry.node] = try target(of: entry, header, reader)
            attributes[entry.node] = (entry.permissions, header.modification)
        case .file:
            // Bits of the local header can make libarchive report another type.
            guard header.type == S_IFREG else { throw .contradiction }
            return try write(entry, header, reader, progress)
        }
        return progress(0)
    }

    /// Writes a file with its mode and time.
    /// - Returns: false when cancelled.
    private mutating func write(
        _ entry: ArchiveContents.Entry, _ header: ArchiveReader.Header, _ reader: borrowing ArchiveReader,
        _ progress: (Int64) -> Bool
    ) throws(ArchiveFault) -> Bool {
        let (parent, name) = try place(of: entry.node)
        let output = try onHost { () throws(SystemError) in
            try parent.descriptor.open(name, flags: O_WRONLY | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR)
        }
        let buffer = self.buffer
        var written: Int64 = 0
        while true {
            let count = try Unpacking.reading(entry) { () throws(ArchiveReader.Failure) in
                try reader.read(into: buffer)
            }
            if count == 0 { break }
            // The limits were checked against the record's size, so no more than that is written.
            guard Int64(count) <= entry.record.size - written else { throw Unpacking.damaged(entry) }
            try onHost { () throws(SystemError) in try output.write(from: buffer, count: count, to: written) }
            written += Int64(count)
            guard progress(Int64(count)) else { return false }
        }
        guard written == entry.record.size else { throw Unpacking.damaged(entry) }
        try onHost { () throws(SystemError) in
            try output.changeMode(entry.permissions)
            try output.changeTimes(access: header.modification, modification: header.modification)
        }
        return written > 0 || progress(0)
    }

    /// The target of a symbolic link, byte for byte: libarchive converts it like a name, and does not verify its
    /// checksum.
    private func target(
        of entry: ArchiveContents.Entry, _ header: ArchiveReader.Header, _ reader: borrowing ArchiveReader
    ) throws(ArchiveFault) -> [UInt8] {
        let (record, buffer) = (entry.record, self.buffer)
        var target: [UInt8]?
        if record.method == .stored {
            let count = try onHost { () throws(SystemError) in
                try reader.file.read(into: buffer, count: Int(record.size), from: record.content)
            }
            target = buffer.bytes(0, count: count)
        } else if header.type == S_IFLNK {
            target = reader.linkTarget()
        }
        guard let target, target.count == record.size, ZipRecord.checksum(of: target) == record.checksum,
            !target.contains(0)
        else { throw Unpacking.damaged(entry) }
        return target
    }
}
