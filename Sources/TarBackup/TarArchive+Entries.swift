// The entries of an archive, one after the other.

import SandboxModel

extension TarArchive {
    /// Reads what stands before the content of the next entry, after what is left of the one before.
    func nextHeader() throws(Complaint) -> Header {
        try stream.skip(left + padding)
        (left, padding) = (0, 0)
        var bytes = try stream.bytes(TarHeader.blockSize)
        var records: [UInt8] = []
        var header = try judging(name) { [bytes] () throws(BackupFlaw) in try TarHeader(bytes) }
        if header.kind == .extended {
            let (block, blocks) = try TarArchive.extended(header, stream, name)
            records = Array(blocks.prefix(Int(header.size)))
            bytes += blocks + block
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
        let header = try stream.bytes(TarHeader.blockSize)
        guard header == Manifest.header(length: manifest.length), manifest.begins(at: stream.position) else {
            throw flaw(.altered(Manifest.path))
        }
    }
}
