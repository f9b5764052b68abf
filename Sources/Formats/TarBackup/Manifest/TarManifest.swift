// The last entry of an archive: a line for every other entry, and a digest of all lines. An archive without it is cut
// short.

import Glibc
import HashFunctions
import Platform
import SandboxModel
import TarFormat

/// A manifest whose digest is verified. Its lines stay in the file, as there may be millions.
struct TarManifest {
    static let path = Array(".appcontainer/Manifest".utf8)
    /// The limit in bytes, for ten million entries.
    static let longest: Int64 = 2 << 30
    /// Bytes of a tar's end: two blocks of zeros.
    static let endLength = 1024

    private let name: String
    private let file: SharedDescriptor
    /// The manifest's byte offset in the file.
    private let start: Int64
    /// Whether the file is the archive, rather than a copy of the manifest.
    private let isInArchive: Bool
    let end: ManifestEnd

    /// Bytes of the manifest.
    var length: Int64 { end.bytes + Int64(ManifestEnd.length) }

    /// The header of a manifest's entry: one block, as the name is short.
    static func entry(length: Int64) -> TarEntry { TarEntry(path: path, length: length) }

    /// The end of an entry with a header of one block, in bytes from the archive's beginning.
    static func endOfEntry(from start: Int64, length: Int64) -> Int64 { start + 512 + (length + 511) & ~511 }

    /// Finds the manifest from the end of an uncompressed archive, without reading the entries.
    /// - Throws: ``Complaint`` of kind `invalidBackup` if there is none, or its digest is wrong.
    init(endOf file: SharedDescriptor, name: String) throws(Complaint) {
        let cut = ArchiveFlaw.cutShort.complaint(about: name)
        let size = try TarManifest.reading(name) { () throws(SystemError) in try file.descriptor.status().size }
        // Enough for the tar's end and the manifest's last line, which may begin in the block before.
        let tail = PageBuffer(count: 4096)
        guard size % 512 == 0, size >= Int64(TarManifest.endLength) + 1024 else { throw cut }
        let taken = Int(min(size, Int64(tail.count)))
        let place = size - Int64(taken)
        let count = try TarManifest.reading(name) { () throws(SystemError) in
            try file.descriptor.read(into: tail, count: taken, from: place)
        }
        let before = taken - TarManifest.endLength
        guard count == taken, tail.isZero(before, count: TarManifest.endLength) else { throw cut }
        let bytes = tail.bytes(0, count: before)
        guard let last = bytes.lastIndex(where: { $0 != 0 }), bytes.count - last <= 512,
            last + 1 >= ManifestEnd.length, let end = ManifestEnd(Array(bytes[(last + 1 - ManifestEnd.length)...last]))
        else { throw cut }
        let start = place + Int64(last + 1 - ManifestEnd.length) - end.bytes
        guard start >= 512, start % 512 == 0, end.bytes < TarManifest.longest else { throw cut }
        // The manifest's header has to lie in the block before it.
        let reader = try TarReader(FileInput(file, from: start - 512, size: size, name: name), from: .backup(name))
        let wanted = TarManifest.entry(length: end.bytes + Int64(ManifestEnd.length))
        guard let entry = try? reader.next(), entry.encoded == wanted.encoded else { throw cut }
        try self.init(file, start: start, isInArchive: true, end: end, name: name)
    }

    /// Opens the copy of a manifest.
    /// - Parameters:
    ///   - file: holds a manifest and nothing else.
    ///   - length: bytes of the file, at least ``ManifestEnd/length``.
    init(file: SharedDescriptor, length: Int64, name: String) throws(Complaint) {
        let buffer = PageBuffer(count: ManifestEnd.length)
        let place = length - Int64(ManifestEnd.length)
        let count = try TarManifest.reading(name) { () throws(SystemError) in
            try file.descriptor.read(into: buffer, count: ManifestEnd.length, from: place)
        }
        guard count == ManifestEnd.length, let end = ManifestEnd(buffer.bytes(0, count: count)), end.bytes == place
        else {
            throw ArchiveFlaw.altered(TarManifest.path).complaint(about: name)
        }
        try self.init(file, start: 0, isInArchive: false, end: end, name: name)
    }

    /// Verifies the digest of all lines.
    private init(
        _ file: SharedDescriptor, start: Int64, isInArchive: Bool, end: ManifestEnd, name: String
    ) throws(Complaint) {
        (self.file, self.start, self.isInArchive, self.end, self.name) = (file, start, isInArchive, end, name)
        let buffer = PageBuffer(count: Int(min(end.bytes, 256 << 10)))
        var digest = MessageDigest(.sha256)
        var position: Int64 = 0
        while position < end.bytes {
            let count = try read(into: buffer, count: min(buffer.count, Int(end.bytes - position)), from: position)
            digest.update(buffer, at: 0, count: count)
            position += Int64(count)
        }
        digest.update(end.beginning)
        guard digest.finish() == end.digest else { throw altered }
    }

    /// Whether the manifest is the content of the entry that begins at a byte offset. A copy was found by reading that
    /// entry.
    func begins(behind entry: Int64) -> Bool { !isInArchive || start == entry + 512 }

    /// The complaint about a manifest that contradicts itself.
    var altered: Complaint { ArchiveFlaw.altered(TarManifest.path).complaint(about: name) }

    /// Runs system calls, and throws their error as a complaint about the archive.
    private static func reading<Result>(
        _ name: String, _ body: () throws(SystemError) -> Result
    ) throws(Complaint) -> Result {
        try Complaint.wrap("cannot read \(name)", body)
    }

    /// Reads bytes of the manifest.
    /// - Returns: the number of bytes, never 0.
    func read(into buffer: PageBuffer, at place: Int = 0, count: Int, from offset: Int64) throws(Complaint)
        -> Int
    {
        let position = start + offset
        let got = try TarManifest.reading(name) { () throws(SystemError) in
            try file.descriptor.read(into: buffer, at: place, count: count, from: position)
        }
        guard got > 0 else { throw altered }
        return got
    }
}
