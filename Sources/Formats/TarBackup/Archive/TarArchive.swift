// Reading one archive that this project wrote: its description, its manifest, and then its entries.

import BackupModel
import Glibc
import HashFunctions
import Platform
import SandboxModel
import TarFormat

/// An archive whose manifest is verified, positioned at its first entry.
final class TarArchive {
    let path: String
    /// The path for messages, on one line: it may come from another backup, which is untrusted.
    let name: String
    let description: BackupDescription
    let manifest: TarManifest
    /// The offset in the manifest of the first line after the description's.
    let firstEntry: Int64
    /// The lines of the manifest, read along with the entries.
    var lines: TarManifest.Lines
    private let reader: TarReader
    private var digest = MessageDigest(.sha256)

    /// Opens an archive, reads the description, and finds and verifies the manifest.
    /// - Parameter scratch: a directory for the manifest of a compressed archive, which cannot be read from its end.
    /// - Throws: ``Complaint`` of kind `notFound`, `invalidBackup` or `newerBackup`, or with the host's error.
    init(_ path: String, scratch: String) throws(Complaint) {
        self.path = path
        let name = path.shown
        self.name = name
        let file = SharedDescriptor(try TarArchive.open(path, name: name))
        let status = try Complaint.wrap("cannot read \(name)") { () throws(SystemError) in
            try file.descriptor.status()
        }
        guard status.kind == .file else { throw ArchiveFlaw("is no file; name one").complaint(about: name) }
        let beginning = PageBuffer(count: 512)
        let count = try Complaint.wrap("cannot read \(name)") { () throws(SystemError) in
            try file.descriptor.read(into: beginning, count: 512, from: 0)
        }
        let compression = DecompressedInput.format(of: beginning.bytes(0, count: count))
        // A compressed archive is read twice, first for its manifest.
        func reader() throws(Complaint) -> TarReader {
            let input = FileInput(file, size: status.size, name: name)
            guard let compression else { return try TarReader(input, from: .backup(name)) }
            return try TarReader(
                try DecompressedInput(input, compression, from: .backup(name)), from: .backup(name))
        }
        let opened = try reader()
        self.reader = opened
        let first = try TarArchive.readDescription(opened, name: name)
        description = first.description
        manifest =
            compression == nil
            ? try TarManifest(endOf: file, name: name)
            : try TarArchive.findManifest(in: try reader(), name: name, scratch: scratch)
        lines = TarManifest.Lines(of: manifest)
        let line = try lines.next()
        firstEntry = lines.offset
        let wanted = ManifestLine(
            isInThisArchive: true, kind: .file, metadata: first.entry.digest,
            content: HashFunction.sha256.digest(of: first.content), path: BackupDescription.path)
        // The description is read before the manifest, and verified by it like any entry.
        guard line == wanted else { throw flaw(.altered(BackupDescription.path)) }
    }

    /// A complaint about this archive.
    func flaw(_ flaw: ArchiveFlaw) -> Complaint { flaw.complaint(about: name) }

    private static func open(_ path: String, name: String) throws(Complaint) -> Descriptor {
        do throws(SystemError) {
            // O_NONBLOCK: opening a fifo would wait for a writer.
            return try ActingUser.reaching(path) { () throws(SystemError) in
                try Descriptor.open(path: path, flags: O_RDONLY | O_NONBLOCK)
            }
        } catch {
            if error == .noEntry { throw Complaint(.notFound, "\(name): there is no such backup") }
            throw Complaint(error, doing: "cannot read \(name)")
        }
    }

    /// Reads the first entry, which has to be the description.
    private static func readDescription(
        _ reader: TarReader, name: String
    ) throws(Complaint) -> (description: BackupDescription, entry: TarEntry, content: [UInt8]) {
        guard let entry = try reader.next() else { throw ArchiveFlaw.notATar.complaint(about: name) }
        guard entry.path == BackupDescription.path else { throw ArchiveFlaw.foreign.complaint(about: name) }
        guard case .file(let length, _) = entry.kind, length <= BackupDescription.longest else {
            throw ArchiveFlaw.altered(BackupDescription.path).complaint(about: name)
        }
        let buffer = PageBuffer(count: Int(length))
        try reader.content { bytes, offset throws(Complaint) in buffer.copy(bytes, to: Int(offset)) }
        let content = buffer.bytes(0, count: Int(length))
        let description = try complaining(about: name) { () throws(ArchiveFlaw) in
            try BackupDescription.decode(content)
        }
        guard let description else {
            throw Complaint(
                .newerBackup, "\(name) was made by a newer version of appcontainer; restore it with that version")
        }
        return (description, entry, content)
    }

    /// Reads a compressed archive to its end, and copies the manifest to a file without a name.
    private static func findManifest(
        in reader: TarReader, name: String, scratch: String
    ) throws(Complaint) -> TarManifest {
        let altered = ArchiveFlaw.altered(TarManifest.path).complaint(about: name)
        let spill = try Complaint.wrap("cannot write in \(scratch)") { () throws(SystemError) in
            let spill = try UnfinishedFile(in: scratch)
            try spill.removeName()
            return spill
        }
        while let entry = try reader.next() {
            guard entry.path == TarManifest.path else { continue }
            guard case .file(let length, _) = entry.kind, length <= TarManifest.longest,
                length >= Int64(ManifestEnd.length), entry.encoded == TarManifest.entry(length: length).encoded
            else { throw altered }
            try reader.content { bytes, offset throws(Complaint) in
                do throws(SystemError) {
                    try spill.file.descriptor.write(bytes, to: offset)
                } catch {
                    throw Complaint(error, doing: "cannot write in \(scratch)")
                }
            }
            let end = TarManifest.endOfEntry(from: reader.entryStart, length: length) + Int64(TarManifest.endLength)
            // Nothing may follow, as nothing would verify it.
            guard try reader.next() == nil, reader.ends(at: end) else { throw altered }
            return try TarManifest(file: spill.file, length: length, name: name)
        }
        throw ArchiveFlaw.cutShort.complaint(about: name)
    }
}

// MARK: - Entries

extension TarArchive {
    /// Reads the header of the next entry, which has to be the one that a line describes.
    /// - Throws: ``Complaint`` of kind `invalidBackup` if it differs.
    func entry(of line: ManifestLine) throws(Complaint) -> TarEntry {
        guard let entry = try reader.next() else { throw flaw(.cutShort) }
        guard entry.path == line.path, entry.digest == line.metadata else { throw flaw(.altered(line.path)) }
        return entry
    }

    /// Bytes of a hole that are hashed in one step.
    private static let holeStep: Int64 = 64 << 20

    /// Reads the content of the current entry, and verifies it against its line.
    /// - Parameters:
    ///   - data: the ranges of the content that are not holes.
    ///   - body: called with the bytes of those ranges, and within long holes with no bytes, so that it can cancel.
    /// - Throws: ``Complaint`` of kind `invalidBackup` if the content differs, or that of `body`.
    func content(
        of line: ManifestLine, length: Int64, data: [Range<Int64>],
        _ body: (_ bytes: borrowing RawSpan, _ offset: Int64) throws(Complaint) -> Void
    ) throws(Complaint) {
        let altered = flaw(.altered(line.path))
        var rest = data[...]
        var position: Int64 = 0
        func passHole(to end: Int64) throws(Complaint) {
            while position < end {
                let count = min(end - position, TarArchive.holeStep)
                digest.update(zeros: count)
                position += count
                // No bytes to write, but a chance for the reader to cancel.
                try body(RawSpan(), position)
            }
        }
        try reader.content { bytes, offset throws(Complaint) in
            // libarchive may give a range in pieces, but in order, and none across a hole.
            guard let range = rest.first, offset == max(position, range.lowerBound),
                Int64(bytes.byteCount) <= range.upperBound - offset
            else { throw altered }
            try passHole(to: offset)
            digest.update(bytes)
            try body(bytes, offset)
            position = offset + Int64(bytes.byteCount)
            if position == range.upperBound { rest.removeFirst() }
        }
        try passHole(to: length)
        guard rest.isEmpty, digest.finish() == line.content else { throw altered }
    }

    /// Skips entries up to that of a path.
    /// - Returns: its line. The entry itself is next.
    /// - Throws: ``Complaint`` of kind `invalidBackup` if there is none.
    func advance(to path: [UInt8]) throws(Complaint) -> ManifestLine {
        while let line = try lines.next() {
            if line.path == path { return line }
            guard ArchivePath.precedes(line.path, path) else { break }
            if line.isInThisArchive { _ = try entry(of: line) }
        }
        throw flaw(ArchiveFlaw("does not have \(path.shown), which a later backup takes from it"))
    }

    /// Checks that the manifest follows the last entry.
    func requireEnd() throws(Complaint) {
        guard let entry = try reader.next(), entry.encoded == TarManifest.entry(length: manifest.length).encoded,
            manifest.begins(behind: reader.entryStart)
        else { throw flaw(.altered(TarManifest.path)) }
    }
}
