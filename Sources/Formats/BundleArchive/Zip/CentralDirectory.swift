// The central directory of a zip archive: the names, sizes and offsets of its entries.

import Platform
import SandboxModel

/// The central directory of a zip archive (PKWARE, APPNOTE.TXT, 4.3).
///
/// libarchive reads it too, but converts names to the process's encoding and composes accents, or fails to, whereas a
/// seal holds names byte for byte. So the names come from here and the content from libarchive. Reading both also finds
/// archives that two readers would read differently.
struct CentralDirectory {
    /// In the order of their content in the archive, without overlaps. That is also libarchive's order.
    let records: [ZipRecord]

    private static let recordSignature: UInt32 = 0x0201_4B50
    private static let endSignature: UInt32 = 0x0605_4B50
    private static let end64Signature: UInt32 = 0x0606_4B50
    private static let locatorSignature: UInt32 = 0x0706_4B50

    private static let notZip = ArchiveFault.refused("is not a zip archive, or its end is missing")

    /// Reads the central directory, and the local header of each entry.
    /// - Parameter length: bytes of the archive.
    /// - Throws: ``ArchiveFault``, also if another reader could find another central directory.
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
        // The count of the end record has 16 bits; writers without zip64 support let it overflow.
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

    /// Finds the central directory by the end record: its byte range, and its number of records.
    private static func locate(
        _ file: borrowing Descriptor, _ length: Int64
    ) throws(ArchiveFault) -> (start: Int64, end: Int64, count: Int) {
        // libarchive, too, takes the last end record within this distance from the end.
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
        // An archive on one disk, with nothing behind the comment.
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
        // With bytes before the archive, readers would have to guess the offsets.
        guard start + size == place else { throw .contradiction }
        return (start, place, Int(buffer.load(UInt16.self, at: at + 10)))
    }

    /// As ``locate(_:_:)``, by the zip64 end record (APPNOTE.TXT, 4.3.14).
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

    /// Reads one record.
    /// - Returns: the record, and its length in bytes.
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
