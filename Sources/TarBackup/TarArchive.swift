// One archive of ours that is being read: its description, its manifest, and then its entries.

import BackupModel
import Glibc
import Platform
import SandboxModel

/// An archive whose manifest was found to be whole, at its first entry.
final class TarArchive {
    /// What stands before the content of an entry.
    struct Header {
        let bytes: [UInt8]
        let reading: EntryReading
        let map: SparseMap?
        /// Of the content in the archive, without the map.
        let contentLength: Int64
    }

    let path: String
    /// The path for people: on one line, even if another backup names it.
    let name: String
    let description: BackupDescription
    let manifest: Manifest
    /// Where the first line stands that is an entry's.
    let firstEntry: Int64
    var lines: Manifest.Lines
    let stream: TarStream
    /// What is left in the stream of the entry that was read last: content, and what fills up its last block.
    var left: Int64 = 0
    var padding: Int64 = 0
    /// Of the headers, and of the content that is being read.
    var digest = SHA256()

    /// - Parameter scratch: a directory for the manifest of a compressed archive, which cannot be read from its end.
    init(_ path: String, scratch: String) throws(Complaint) {
        self.path = path
        let name = String(String.UnicodeScalarView(path.unicodeScalars.map { $0.value < 0x20 ? "?" : $0 }))
        self.name = name
        let file = SharedDescriptor(try TarArchive.open(path, name: name))
        let status = try Complaint.wrap("cannot read \(name)") { () throws(SystemError) in
            try file.descriptor.status()
        }
        guard status.kind == .file else { throw BackupFlaw("is no file; name one").complaint(about: name) }
        let beginning = PageBuffer(count: 512)
        let count = try Complaint.wrap("cannot read \(name)") { () throws(SystemError) in
            try file.descriptor.read(into: beginning, count: 512, from: 0)
        }
        let isCompressed = DecompressedInput.isCompressed(beginning.bytes(0, count: count))
        func input() throws(Complaint) -> any TarInput {
            guard isCompressed else { return FileInput(file, size: status.size, name: name) }
            let again = try Complaint.wrap("cannot read \(name)") { () throws(SystemError) in
                try file.descriptor.reopen(flags: O_RDONLY)
            }
            return try DecompressedInput(again, name: name)
        }
        stream = TarStream(try input(), name: name)
        let first = try TarArchive.readDescription(stream, name: name)
        description = first.description
        manifest =
            isCompressed
            ? try TarArchive.findManifest(in: TarStream(try input(), name: name), name: name, scratch: scratch)
            : try Manifest(endOf: file, name: name)
        lines = Manifest.Lines(of: manifest)
        let line = try lines.next()
        firstEntry = lines.offset
        digest.update(first.header)
        let header = digest.finish()
        digest.update(first.content)
        let wanted = ManifestLine(
            isHere: true, kind: .file, header: header, content: digest.finish(), path: BackupDescription.path)
        guard line == wanted else { throw flaw(.altered(BackupDescription.path)) }
    }

    func flaw(_ flaw: BackupFlaw) -> Complaint { flaw.complaint(about: name) }

    private static func open(_ path: String, name: String) throws(Complaint) -> Descriptor {
        do throws(SystemError) {
            // Not blocking, for something that is no file at all.
            return try Descriptor.open(path: path, flags: O_RDONLY | O_NONBLOCK)
        } catch {
            if error == .noEntry { throw Complaint(.notFound, "\(name): there is no such backup") }
            throw Complaint(error, doing: "cannot read \(name)")
        }
    }

    private static func readDescription(
        _ stream: TarStream, name: String
    ) throws(Complaint) -> (description: BackupDescription, header: [UInt8], content: [UInt8]) {
        guard !(try stream.isAtEnd()) else { throw BackupFlaw.notATar.complaint(about: name) }
        let block = try stream.bytes(TarHeader.blockSize)
        let header = try judging(name) { () throws(BackupFlaw) in
            let isPath = block.starts(with: BackupDescription.path + [0])
            guard isPath || TarHeader.isHeader(block) else { throw .notATar }
            guard isPath else { throw .foreign }
            return try TarHeader(block)
        }
        guard header.kind == .file, header.size <= BackupDescription.longest else {
            throw BackupFlaw.altered(BackupDescription.path).complaint(about: name)
        }
        let content = try stream.bytes(Int(header.size))
        let padding = try stream.bytes(Int(TarHeader.padded(header.size) - header.size))
        let description = try judging(name) { () throws(BackupFlaw) in
            guard padding.allSatisfy({ $0 == 0 }) else { throw .altered(BackupDescription.path) }
            return try BackupDescription.decode(content)
        }
        guard let description else {
            throw Complaint(
                .newerBackup, "\(name) was made by a newer version of appcontainer; restore it with that version")
        }
        return (description, block, content)
    }

    /// Reads through an archive to its end, and keeps the manifest in a file.
    private static func findManifest(
        in stream: TarStream, name: String, scratch: String
    ) throws(Complaint) -> Manifest {
        let spill = try Complaint.wrap("cannot write in \(scratch)") { () throws(SystemError) in
            let directory = SharedDescriptor(try Descriptor.open(path: scratch, flags: O_RDONLY | O_DIRECTORY))
            let spill = try UnfinishedFile(in: directory)
            try spill.removeName()
            return spill
        }
        while true {
            let block = try stream.bytes(TarHeader.blockSize)
            let header = try judging(name) { () throws(BackupFlaw) in try TarHeader(block) }
            guard header.name == Manifest.path else {
                let size = try size(of: header, stream, name)
                try stream.skip(TarHeader.padded(size))
                continue
            }
            guard header.size <= Manifest.longest else {
                throw BackupFlaw.altered(Manifest.path).complaint(about: name)
            }
            var position: Int64 = 0
            while position < header.size {
                let piece = try stream.piece(header.size - position)
                let place = position
                try Complaint.wrap("cannot write in \(scratch)") { () throws(SystemError) in
                    try spill.file.descriptor.write(
                        from: stream.buffer, at: piece.lowerBound, count: piece.count, to: place)
                }
                position += Int64(piece.count)
            }
            let rest = try stream.bytes(Int(TarHeader.padded(position) - position) + Manifest.endLength)
            guard block == Manifest.header(length: header.size), rest.allSatisfy({ $0 == 0 }), try stream.isAtEnd(),
                header.size >= Int64(ManifestEnd.length)
            else { throw BackupFlaw.altered(Manifest.path).complaint(about: name) }
            return try Manifest(file: spill.file, length: header.size, name: name)
        }
    }

    /// How much follows a header: its extended records may say it, which are read then together with the header behind
    /// them.
    private static func size(of header: TarHeader, _ stream: TarStream, _ name: String) throws(Complaint) -> Int64 {
        guard header.kind == .extended else { return header.size }
        let (block, blocks) = try extended(header, stream, name)
        return try judging(name) { () throws(BackupFlaw) in
            try EntryReading(try TarHeader(block), records: Array(blocks.prefix(Int(header.size)))).size
        }
    }

    /// The blocks with the records that follow their header, and the block after them.
    static func extended(
        _ header: TarHeader, _ stream: TarStream, _ name: String
    ) throws(Complaint) -> (block: [UInt8], blocks: [UInt8]) {
        guard header.size <= Int64(PaxRecords.longest) else {
            throw BackupFlaw("has an entry with too many extended records").complaint(about: name)
        }
        let blocks = try stream.bytes(Int(TarHeader.padded(header.size)))
        return (try stream.bytes(TarHeader.blockSize), blocks)
    }
}
