// The last entry of an archive: a line for every other, and a digest over all lines. What has none is cut short.

import Glibc
import HashFunctions
import Platform
import SandboxModel

/// A manifest that was found to be whole.
struct Manifest {
    static let path = Array(".appcontainer/Manifest".utf8)
    /// Lines of ten million entries.
    static let longest: Int64 = 2 << 30
    /// Two blocks of zeros end a tar.
    static let endLength = 1024

    private let name: String
    private let file: SharedDescriptor
    /// Where it begins in the file.
    private let start: Int64
    /// Whether the file is the archive, and not one of the manifest's own.
    private let isInArchive: Bool
    let end: ManifestEnd

    var length: Int64 { end.bytes + Int64(ManifestEnd.length) }

    /// What stands before a manifest of that many bytes: one block, as of all entries of short names.
    static func entry(length: Int64) -> TarEntry { TarEntry(path: path, length: length) }

    /// Where an entry ends that has a header of one block, with that much content.
    static func endOfEntry(from start: Int64, length: Int64) -> Int64 { start + 512 + (length + 511) & ~511 }

    /// Finds the manifest from the end of an archive.
    init(endOf file: SharedDescriptor, name: String) throws(Complaint) {
        let cut = BackupFlaw.cutShort.complaint(about: name)
        let size = try Manifest.reading(name) { () throws(SystemError) in try file.descriptor.status().size }
        // The end and the last line, which may begin in the block before.
        let tail = PageBuffer(count: 4096)
        guard size % 512 == 0, size >= Int64(Manifest.endLength) + 1024 else { throw cut }
        let taken = Int(min(size, Int64(tail.count)))
        let place = size - Int64(taken)
        let count = try Manifest.reading(name) { () throws(SystemError) in
            try file.descriptor.read(into: tail, count: taken, from: place)
        }
        let before = taken - Manifest.endLength
        guard count == taken, tail.isZero(before, count: Manifest.endLength) else { throw cut }
        let bytes = tail.bytes(0, count: before)
        guard let last = bytes.lastIndex(where: { $0 != 0 }), bytes.count - last <= 512,
            last + 1 >= ManifestEnd.length, let end = ManifestEnd(Array(bytes[(last + 1 - ManifestEnd.length)...last]))
        else { throw cut }
        let start = place + Int64(last + 1 - ManifestEnd.length) - end.bytes
        guard start >= 512, start % 512 == 0, end.bytes < Manifest.longest else { throw cut }
        // Where its entry has to begin, and to be the last.
        let reader = try TarReader(FileInput(file, from: start - 512, size: size, name: name), name: name)
        let wanted = Manifest.entry(length: end.bytes + Int64(ManifestEnd.length))
        guard let entry = try? reader.next(), entry.encoded == wanted.encoded else { throw cut }
        try self.init(file, start: start, isInArchive: true, end: end, name: name)
    }

    /// - Parameter file: holds a manifest and nothing else, of at least a last line.
    init(file: SharedDescriptor, length: Int64, name: String) throws(Complaint) {
        let buffer = PageBuffer(count: ManifestEnd.length)
        let place = length - Int64(ManifestEnd.length)
        let count = try Manifest.reading(name) { () throws(SystemError) in
            try file.descriptor.read(into: buffer, count: ManifestEnd.length, from: place)
        }
        guard count == ManifestEnd.length, let end = ManifestEnd(buffer.bytes(0, count: count)), end.bytes == place
        else {
            throw BackupFlaw.altered(Manifest.path).complaint(about: name)
        }
        try self.init(file, start: 0, isInArchive: false, end: end, name: name)
    }

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

    /// Whether it may begin there in the archive. One that is in a file of its own was found by reading from the beginning.
    /// - Parameter entry: where its entry begins.
    func begins(behind entry: Int64) -> Bool { !isInArchive || start == entry + 512 }

    var altered: Complaint { BackupFlaw.altered(Manifest.path).complaint(about: name) }

    private static func reading<Result>(
        _ name: String, _ body: () throws(SystemError) -> Result
    ) throws(Complaint) -> Result {
        try Complaint.wrap("cannot read \(name)", body)
    }

    /// - Returns: how many bytes; never 0.
    func read(into buffer: PageBuffer, at place: Int = 0, count: Int, from offset: Int64) throws(Complaint)
        -> Int
    {
        let position = start + offset
        let got = try Manifest.reading(name) { () throws(SystemError) in
            try file.descriptor.read(into: buffer, at: place, count: count, from: position)
        }
        guard got > 0 else { throw altered }
        return got
    }
}
