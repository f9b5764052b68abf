// The last entry of an archive: a line for every other, and a digest over all lines. What has none is cut short.

import Glibc
import Platform
import SandboxModel

/// A manifest that was found to be whole.
struct Manifest {
    static let path = Array(".appcontainer/Manifest".utf8)
    /// Two blocks of zeros end a tar.
    static let endLength = 1024

    private let name: String
    private let file: SharedDescriptor
    /// Where it begins in the file.
    private let start: Int64
    let end: ManifestEnd

    var length: Int64 { end.bytes + Int64(ManifestEnd.length) }

    /// The block before a manifest of that many bytes.
    static func header(length: Int64) -> [UInt8] {
        var header = TarHeader(name: path, kind: .file)
        // 8 GiB are the lines of forty million entries.
        header.size = min(length, TarHeader.largestNumber)
        var bytes: [UInt8] = []
        header.append(to: &bytes)
        return bytes
    }

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
        guard start >= 512, start % 512 == 0 else { throw cut }
        let header = try Manifest.reading(name) { () throws(SystemError) in
            try file.descriptor.read(into: tail, count: 512, from: start - 512)
        }
        guard header == 512,
            tail.bytes(0, count: 512) == Manifest.header(length: end.bytes + Int64(ManifestEnd.length))
        else { throw cut }
        try self.init(file, start: start, end: end, name: name)
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
        try self.init(file, start: 0, end: end, name: name)
    }

    private init(_ file: SharedDescriptor, start: Int64, end: ManifestEnd, name: String) throws(Complaint) {
        (self.file, self.start, self.end, self.name) = (file, start, end, name)
        let buffer = PageBuffer(count: 256 << 10)
        var digest = SHA256()
        var position: Int64 = 0
        while position < end.bytes {
            let count = try read(into: buffer, count: min(buffer.count, Int(end.bytes - position)), from: position)
            digest.update(buffer, 0..<count)
            position += Int64(count)
        }
        digest.update(end.beginning)
        guard digest.finish() == end.digest else { throw altered }
    }

    var altered: Complaint { BackupFlaw.altered(Manifest.path).complaint(about: name) }

    private static func reading<Result>(
        _ name: String, _ body: () throws(SystemError) -> Result
    ) throws(Complaint) -> Result {
        try Complaint.wrap("cannot read \(name)", body)
    }

    /// - Returns: how many bytes; never 0.
    fileprivate func read(into buffer: PageBuffer, at place: Int = 0, count: Int, from offset: Int64) throws(Complaint)
        -> Int
    {
        let position = start + offset
        let got = try Manifest.reading(name) { () throws(SystemError) in
            try file.descriptor.read(into: buffer, at: place, count: count, from: position)
        }
        guard got > 0 else { throw altered }
        return got
    }

    // MARK: Lines

    /// Reads the lines one after the other.
    struct Lines {
        private let manifest: Manifest
        private let buffer = PageBuffer(count: 2 * ManifestLine.longest)
        private var place = 0
        private var fill = 0
        /// Of the bytes in the buffer that are read already.
        private var read: Int64 = 0
        private var count: Int64 = 0

        init(of manifest: Manifest) {
            self.manifest = manifest
        }

        /// Where the next line begins.
        var offset: Int64 { read - Int64(fill - place) }

        mutating func next() throws(Complaint) -> ManifestLine? {
            while true {
                var end = place
                while end < fill, buffer.load(UInt8.self, at: end) != UInt8(ascii: "\n") { end += 1 }
                if end < fill {
                    guard let line = ManifestLine(buffer.bytes(place, count: end - place)) else {
                        throw manifest.altered
                    }
                    place = end + 1
                    count += 1
                    return line
                }
                let left = manifest.end.bytes - read
                guard left > 0 else {
                    guard place == fill, count == manifest.end.lines else { throw manifest.altered }
                    return nil
                }
                guard fill - place < ManifestLine.longest else { throw manifest.altered }
                buffer.copy(from: buffer, at: place, count: fill - place, to: 0)
                (place, fill) = (0, fill - place)
                let room = min(buffer.count - fill, Int(left))
                let got = try manifest.read(into: buffer, at: fill, count: room, from: read)
                fill += got
                read += Int64(got)
            }
        }
    }

    /// Whether there is a file of that path between two lines, by the order in which lines stand.
    func hasFile(_ path: [UInt8], from first: Int64, before limit: Int64) throws(Complaint) -> Bool {
        var (low, high) = (first, limit)
        while low < high {
            let middle = low + (high - low) / 2
            guard let (line, start, end) = try line(from: middle, isStart: middle == low), start < high else {
                high = middle
                continue
            }
            if line.path == path { return line.kind == .file }
            if ArchivePath.precedes(line.path, path) { low = end } else { high = middle }
        }
        return false
    }

    /// The first line that begins at or behind a place; nil where none does.
    private func line(
        from place: Int64, isStart: Bool
    ) throws(Complaint) -> (line: ManifestLine, start: Int64, end: Int64)? {
        // The byte before tells whether a line begins right here.
        let origin = isStart ? place : place - 1
        var bytes: [UInt8] = []
        var buffer = PageBuffer(count: 4096)
        while true {
            let count = Int(min(Int64(buffer.count), end.bytes - origin))
            bytes = buffer.bytes(0, count: try read(into: buffer, count: count, from: origin))
            let before = isStart ? bytes.startIndex - 1 : bytes.firstIndex(of: UInt8(ascii: "\n"))
            if let before, before + 1 < bytes.count || origin + Int64(bytes.count) == end.bytes {
                guard before + 1 < bytes.count else { return nil }
                if let last = bytes[(before + 1)...].firstIndex(of: UInt8(ascii: "\n")) {
                    guard let line = ManifestLine(Array(bytes[(before + 1)..<last])) else { throw altered }
                    return (line, origin + Int64(before + 1), origin + Int64(last + 1))
                }
            }
            guard origin + Int64(bytes.count) < end.bytes else { return nil }
            guard buffer.count < 4 * ManifestLine.longest else { throw altered }
            buffer = PageBuffer(count: 4 * buffer.count)
        }
    }
}
