// The table of contents at the end of a zip archive: what lies in it under which name, and where.

import Platform
import SandboxModel

/// The central directory of a zip archive (PKWARE, APPNOTE.TXT, 4.3).
///
/// libarchive reads it too, but gives names in the encoding of the process and with composed accents, or not at all,
/// and a seal names files byte for byte. So the names come from here and the content from libarchive. Having both
/// also means that an archive which can be read in two ways is found out.
struct CentralDirectory {
    /// In the order in which they lie in the archive, none over another. That is libarchive's order, too.
    let records: [ZipRecord]

    private static let recordSignature: UInt32 = 0x0201_4B50
    private static let endSignature: UInt32 = 0x0605_4B50
    private static let end64Signature: UInt32 = 0x0606_4B50
    private static let locatorSignature: UInt32 = 0x0706_4B50

    private static let notZip = ArchiveFault.refused("is not a zip archive, or its end is missing")

    /// - Throws: ``ArchiveFault``, also when the table is not the only one that a reader could find.
    init(of file: borrowing Descriptor, length: Int64, limits: AppArchive.Limits) throws(ArchiveFault) {
        let (start, end, count) = try CentralDirectory.locate(file, length)
        guard end - start <= limits.table else { throw .refused("has a table of contents that is too large") }
        var window = ArchiveWindow(length: length)
        var records: [ZipRecord] = []
        var position = start
        while position < end {
            guard records.count < limits.entries else { throw .refused("has more than \(limits.entries) entries") }
            let (record, length) = try CentralDirectory.record(at: position, in: file, &window)
            position += length
            records.append(record)
        }
        // The field of the old end record has 16 bits, and writers that do not know its successor let it overflow.
        guard position == end, records.count == count || (count < 1 << 16 && records.count & 0xFFFF == count) else {
            throw .contradiction
        }
        records.sort { $0.offset < $1.offset }
        var free: Int64 = 0
        for index in records.indices {
            guard records[index].offset >= free else { throw .contradiction }
            try records[index].readLocalHeader(file, &window)
            let content = records[index].content
            guard records[index].compressed <= start - content else { throw .contradiction }
            free = content + records[index].compressed
        }
        self.records = records
    }

    /// Where the table lies, and how many records it says to have.
    private static func locate(
        _ file: borrowing Descriptor, _ length: Int64
    ) throws(ArchiveFault) -> (start: Int64, end: Int64, count: Int) {
        // As far from the end as libarchive looks, and as it does, the last that there is.
        let tail = Int(min(length, 16 << 10))
        guard tail >= 22 else { throw notZip }
        let buffer = PageBuffer(count: tail)
        let got = try onHost { () throws(SystemError) in
            try file.read(into: buffer, count: tail, from: length - Int64(tail))
        }
        let places = stride(from: tail - 22, through: 0, by: -1)
        guard got == tail, let at = places.first(where: { buffer.load(UInt32.self, at: $0) == endSignature }) else {
            throw notZip
        }
        // On one disk, and nothing behind the comment.
        guard buffer.load(UInt32.self, at: at + 4) == 0,
            buffer.load(UInt16.self, at: at + 8) == buffer.load(UInt16.self, at: at + 10),
            at + 22 + Int(buffer.load(UInt16.self, at: at + 20)) == tail
        else { throw .contradiction }
        let place = length - Int64(tail - at)
        if at >= 20, buffer.load(UInt32.self, at: at - 20) == locatorSignature {
            return try locate64(file, buffer, at - 20, length: length, before: place - 20)
        }
        let size = Int64(buffer.load(UInt32.self, at: at + 12))
        let start = Int64(buffer.load(UInt32.self, at: at + 16))
        // With bytes before the archive the offsets would have to be guessed.
        guard start + size == place else { throw .contradiction }
        return (start, place, Int(buffer.load(UInt16.self, at: at + 10)))
    }

    /// As ``locate(_:_:)``, by the record for archives with offsets of 64 bits.
    private static func locate64(
        _ file: borrowing Descriptor, _ buffer: PageBuffer, _ at: Int, length: Int64, before place: Int64
    ) throws(ArchiveFault) -> (start: Int64, end: Int64, count: Int) {
        var window = ArchiveWindow(length: length)
        guard let end = Int64(exactly: buffer.load(UInt64.self, at: at + 8)), end >= 0, end <= place - 56,
            buffer.load(UInt32.self, at: at + 4) == 0, buffer.load(UInt32.self, at: at + 16) == 1
        else { throw .contradiction }
        let start = try window.fetch(file, end, 56)
        let bytes = window.buffer
        guard bytes.load(UInt32.self, at: start) == end64Signature,
            bytes.load(UInt64.self, at: start + 4) == UInt64(place - end - 12),
            bytes.load(UInt64.self, at: start + 16) == 0,
            bytes.load(UInt64.self, at: start + 24) == bytes.load(UInt64.self, at: start + 32),
            let count = Int(exactly: bytes.load(UInt64.self, at: start + 32)),
            let size = Int64(exactly: bytes.load(UInt64.self, at: start + 40)),
            let first = Int64(exactly: bytes.load(UInt64.self, at: start + 48)), first <= end, size == end - first
        else { throw .contradiction }
        return (first, end, count)
    }

    private static func record(
        at position: Int64, in file: borrowing Descriptor, _ window: inout ArchiveWindow
    ) throws(ArchiveFault) -> (ZipRecord, length: Int64) {
        let head = try window.fetch(file, position, 46)
        guard window.buffer.load(UInt32.self, at: head) == recordSignature else { throw .contradiction }
        let sizes = [28, 30, 32].map { Int(window.buffer.load(UInt16.self, at: head + $0)) }
        let length = 46 + sizes.reduce(0, +)
        let start = try window.fetch(file, position, length)
        return (try ZipRecord(window.buffer, at: start, name: sizes[0], extra: sizes[1]), Int64(length))
    }
}

/// A piece of the archive in memory, as reading goes on.
struct ArchiveWindow {
    /// Longer than a record can be, with its three parts of 65,535 bytes.
    let buffer = PageBuffer(count: 256 << 10)
    private let length: Int64
    private var start: Int64 = 0
    private var filled = 0

    /// - Parameter length: of the archive.
    init(length: Int64) {
        self.length = length
    }

    /// Has bytes of the archive in the buffer, until the next call.
    /// - Returns: where in the buffer they begin.
    mutating func fetch(_ file: borrowing Descriptor, _ offset: Int64, _ count: Int) throws(ArchiveFault) -> Int {
        guard offset >= 0, offset <= length - Int64(count) else { throw .contradiction }
        if offset < start || offset + Int64(count) > start + Int64(filled) {
            let buffer = self.buffer
            let wanted = max(count, 16 << 10)
            start = offset
            filled = 0
            filled = try onHost { () throws(SystemError) in
                try file.read(into: buffer, count: min(wanted, buffer.count), from: offset)
            }
            guard filled >= count else { throw .contradiction }
        }
        return Int(offset - start)
    }
}
