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

    let name: String
    let description: BackupDescription
    let manifest: Manifest
    /// Where the first line stands that is an entry's.
    let firstEntry: Int64
    var lines: Manifest.Lines
    let stream: TarStream
    /// What is left in the stream of the entry that was read last: content, and what fills up its last block.
    private(set) var left: Int64 = 0
    private var padding: Int64 = 0
    /// Of the headers, and of the content that is being read.
    var digest = SHA256()

    /// - Parameter scratch: a directory for the manifest of a compressed archive, which cannot be read from its end.
    init(_ path: String, scratch: String) throws(Complaint) {
        name = path
        let file = SharedDescriptor(try TarArchive.open(path))
        let status = try Complaint.wrap("cannot read \(path)") { () throws(SystemError) in
            try file.descriptor.status()
        }
        guard status.kind == .file else { throw BackupFlaw("is no file; name one").complaint(about: path) }
        let beginning = PageBuffer(count: 512)
        let count = try Complaint.wrap("cannot read \(path)") { () throws(SystemError) in
            try file.descriptor.read(into: beginning, count: 512, from: 0)
        }
        let isCompressed = DecompressedInput.isCompressed(beginning.bytes(0, count: count))
        func input() throws(Complaint) -> any TarInput {
            guard isCompressed else { return FileInput(file, size: status.size, name: path) }
            let again = try Complaint.wrap("cannot read \(path)") { () throws(SystemError) in
                try file.descriptor.reopen(flags: O_RDONLY)
            }
            return try DecompressedInput(again, name: path)
        }
        stream = TarStream(try input(), name: path)
        let first = try TarArchive.readDescription(stream, name: path)
        description = first.description
        manifest =
            isCompressed
            ? try TarArchive.findManifest(in: TarStream(try input(), name: path), name: path, scratch: scratch)
            : try Manifest(endOf: file, name: path)
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

    private static func open(_ path: String) throws(Complaint) -> Descriptor {
        do throws(SystemError) {
            // Not blocking, for something that is no file at all.
            return try Descriptor.open(path: path, flags: O_RDONLY | O_NONBLOCK)
        } catch {
            if error == .noEntry { throw Complaint(.notFound, "\(path): there is no such backup") }
            throw Complaint(error, doing: "cannot read \(path)")
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
        let (block, records) = try extended(header, stream, name)
        return try judging(name) { () throws(BackupFlaw) in
            try EntryReading(try TarHeader(block), records: records).size
        }
    }

    /// The records that follow their header, and the block after them.
    private static func extended(
        _ header: TarHeader, _ stream: TarStream, _ name: String
    ) throws(Complaint) -> (block: [UInt8], records: [UInt8]) {
        guard header.size <= Int64(PaxRecords.longest) else {
            throw BackupFlaw("has an entry with too many extended records").complaint(about: name)
        }
        let records = try stream.bytes(Int(header.size))
        try stream.skip(TarHeader.padded(header.size) - header.size)
        return (try stream.bytes(TarHeader.blockSize), records)
    }

    // MARK: Entries

    /// Reads what stands before the content of the next entry, after what is left of the one before.
    func nextHeader() throws(Complaint) -> Header {
        try stream.skip(left + padding)
        (left, padding) = (0, 0)
        var bytes = try stream.bytes(TarHeader.blockSize)
        var records: [UInt8] = []
        var header = try judging(name) { [bytes] () throws(BackupFlaw) in try TarHeader(bytes) }
        if header.kind == .extended {
            let (block, found) = try TarArchive.extended(header, stream, name)
            records = found
            bytes += records
            // What fills up the block is zeros in what the entry would be written as, to which these bytes are held.
            bytes.append(contentsOf: repeatElement(0, count: Int(TarHeader.padded(header.size) - header.size)))
            bytes += block
            header = try judging(name) { () throws(BackupFlaw) in try TarHeader(block) }
        }
        let reading = try judging(name) { [header, records] () throws(BackupFlaw) in
            try EntryReading(header, records: records)
        }
        var map: SparseMap?
        var contentLength = reading.size
        if let length = reading.sparseLength {
            let (blocks, found) = try readMap(length: length, within: reading.size)
            bytes += blocks
            contentLength -= Int64(blocks.count)
            guard found.dataLength == contentLength else { throw flaw(.altered(reading.path)) }
            map = found
        }
        left = contentLength
        padding = TarHeader.padded(reading.size) - reading.size
        return Header(bytes: bytes, reading: reading, map: map, contentLength: contentLength)
    }

    private func readMap(length: Int64, within size: Int64) throws(Complaint) -> (blocks: [UInt8], map: SparseMap) {
        var numbers = SparseMap.Numbers()
        var blocks: [UInt8] = []
        while !numbers.isComplete {
            guard blocks.count + 512 <= min(size, Int64(SparseMap.longest)) else {
                throw flaw(SparseMap.Numbers.flaw)
            }
            let block = try stream.bytes(512)
            numbers = try judging(name) { [numbers] () throws(BackupFlaw) in
                var more = numbers
                try more.append(block)
                return more
            }
            blocks += block
        }
        let map = try judging(name) { [numbers] () throws(BackupFlaw) in
            try SparseMap(length: length, numbers: numbers)
        }
        return (blocks, map)
    }

    /// A piece of what is left of the entry's content, as a range of the stream's buffer.
    func piece(atMost count: Int64) throws(Complaint) -> Range<Int> {
        let piece = try stream.piece(min(count, left))
        left -= Int64(piece.count)
        return piece
    }

    /// After the last piece: what fills up the last block has to be zeros.
    func endContent(of path: [UInt8]) throws(Complaint) {
        let rest = try stream.bytes(Int(padding))
        padding = 0
        guard left == 0, rest.allSatisfy({ $0 == 0 }) else { throw flaw(.altered(path)) }
    }

    func digest(of bytes: [UInt8]) -> [UInt8] {
        digest.update(bytes)
        return digest.finish()
    }

    /// Passes over entries to the one of a path, of which the line is given.
    func advance(to path: [UInt8]) throws(Complaint) -> ManifestLine {
        while let line = try lines.next() {
            if line.path == path { return line }
            guard ArchivePath.precedes(line.path, path) else { break }
            if line.isHere { try skip(line) }
        }
        throw flaw(BackupFlaw("does not have \(path.shown), which a later backup takes from it"))
    }

    /// Passes over an entry without reading its content.
    func skip(_ line: ManifestLine) throws(Complaint) {
        let header = try nextHeader()
        guard header.reading.path == line.path, digest(of: header.bytes) == line.header else {
            throw flaw(.altered(line.path))
        }
    }

    /// Sees that after the last entry nothing but the manifest follows.
    func requireEnd() throws(Complaint) {
        try stream.skip(left + padding)
        (left, padding) = (0, 0)
        guard try stream.bytes(TarHeader.blockSize) == Manifest.header(length: manifest.length) else {
            throw flaw(.altered(Manifest.path))
        }
        var begins: [UInt8] = []
        begins = try stream.bytes(Int(min(manifest.length, 4)))
        guard begins == Array("+ f ".utf8) else { throw flaw(.altered(Manifest.path)) }
    }
}
