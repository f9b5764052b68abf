// A writer of zip archives for tests: valid ones, and forged ones.

import Foundation

/// An entry, every field of whose headers can be forged.
struct ZipEntry {
    var name: [UInt8]
    var content: [UInt8]
    var method: UInt16 = 0
    /// 3 is UNIX, 0 is DOS.
    var maker: UInt8 = 3
    var mode: UInt16 = 0o100644
    var dosAttributes: UInt8 = 0
    var flags: UInt16 = 0
    /// The compressed content; nil to compute it.
    var packed: [UInt8]?
    var size: UInt32?
    var compressed: UInt32?
    var checksum: UInt32?
    var localName: [UInt8]?
    var extra: [UInt8] = []
    var localExtra: [UInt8] = []
    /// Whether sizes and checksum follow the content.
    var isStreamed = false
    /// 2024-05-06 07:08:10, in DOS format.
    var time: (time: UInt16, date: UInt16) = (7 << 11 | 8 << 5 | 5, 44 << 9 | 5 << 5 | 6)

    static func file(_ name: String, _ content: String = "content", mode: UInt16 = 0o100644) -> ZipEntry {
        ZipEntry(name: Array(name.utf8), content: Array(content.utf8), mode: mode)
    }

    static func directory(_ name: String, mode: UInt16 = 0o040755) -> ZipEntry {
        ZipEntry(name: Array((name + "/").utf8), content: [], mode: mode)
    }

    static func link(_ name: String, _ target: String) -> ZipEntry {
        ZipEntry(name: Array(name.utf8), content: Array(target.utf8), mode: 0o120777)
    }

    /// A copy of this entry with changes.
    func with(_ change: (inout ZipEntry) -> Void) -> ZipEntry {
        var entry = self
        change(&entry)
        return entry
    }
}

/// The smallest app, with the entries of a test.
func app(_ entries: ZipEntry..., name: String = "Notes.app") -> [ZipEntry] {
    [.directory("Payload"), .directory("Payload/\(name)"), .file("Payload/\(name)/Info.plist", "plist")] + entries
}

enum Zip {
    static func archive(
        _ entries: [ZipEntry], comment: [UInt8] = [], before: [UInt8] = [], is64: Bool = false, count: Int? = nil
    ) -> [UInt8] {
        var bytes = before
        var table: [UInt8] = []
        for entry in entries {
            let packed =
                entry.packed ?? (entry.method == 8 && !entry.content.isEmpty ? deflated(entry.content) : entry.content)
            let sum = entry.checksum ?? checksum(entry.content)
            let sizes =
                little(entry.compressed ?? UInt32(packed.count)) + little(entry.size ?? UInt32(entry.content.count))
            let flags = entry.flags | (entry.isStreamed ? 1 << 3 : 0)
            let head = little(flags) + little(entry.method) + little(entry.time.time) + little(entry.time.date)
            let local = entry.localName ?? entry.name
            let offset = little(UInt32(bytes.count - before.count))
            bytes += little(UInt32(0x0403_4B50)) + little(UInt16(20)) + head
            bytes += entry.isStreamed ? [UInt8](repeating: 0, count: 12) : little(sum) + sizes
            bytes += little(UInt16(local.count)) + little(UInt16(entry.localExtra.count)) + local + entry.localExtra
            bytes += packed
            if entry.isStreamed { bytes += little(UInt32(0x0807_4B50)) + little(sum) + sizes }
            table += little(UInt32(0x0201_4B50)) + [20, entry.maker] + little(UInt16(20)) + head + little(sum) + sizes
            table +=
                little(UInt16(entry.name.count)) + little(UInt16(entry.extra.count)) + [UInt8](repeating: 0, count: 6)
            table += little(UInt32(entry.mode) << 16 | UInt32(entry.dosAttributes)) + offset + entry.name + entry.extra
        }
        let start = bytes.count - before.count
        bytes += table
        let number = count ?? entries.count
        if is64 {
            let end = UInt64(bytes.count)
            bytes += little(UInt32(0x0606_4B50)) + little(UInt64(44)) + little(UInt16(45)) + little(UInt16(45))
            bytes += little(UInt64(0)) + little(UInt64(number)) + little(UInt64(number))
            bytes += little(UInt64(table.count)) + little(UInt64(start))
            bytes += little(UInt32(0x0706_4B50)) + little(UInt32(0)) + little(end) + little(UInt32(1))
        }
        bytes += little(UInt32(0x0605_4B50)) + little(UInt32(0))
        bytes += little(UInt16(truncatingIfNeeded: number)) + little(UInt16(truncatingIfNeeded: number))
        bytes += is64 ? [UInt8](repeating: 0xFF, count: 8) : little(UInt32(table.count)) + little(UInt32(start))
        return bytes + little(UInt16(comment.count)) + comment
    }

    static func little<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        (0..<Value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
    }

    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
    }

    /// Deflate with the blocks that store (RFC 1951, 3.2.4).
    static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for start in stride(from: 0, to: max(bytes.count, 1), by: 0xFFFF) {
            let piece = bytes[start..<min(start + 0xFFFF, bytes.count)]
            result += [start + 0xFFFF >= bytes.count ? 1 : 0]
            result += little(UInt16(piece.count)) + little(~UInt16(piece.count)) + piece
        }
        return result
    }

    /// Deflate of zeros with the fixed code (RFC 1951, 3.2.6): a literal, and copies of the 258 bytes before.
    /// - Returns: a stream that unpacks to 1 + 258 × `copies` bytes.
    static func zeros(copies: Int) -> [UInt8] {
        var result: [UInt8] = []
        var (bits, count) = (UInt64(0), UInt64(0))
        func put(_ code: UInt64, _ length: UInt64) {
            bits |= code << count
            count += length
            while count >= 8 {
                result.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                count -= 8
            }
        }
        put(0b011, 3)
        // The codes with their first bit lowest: literal 0, then (length 258, distance 1), then the end.
        put(0b0000_1100, 8)
        for _ in 0..<copies { put(0b00000_10100011, 13) }
        put(0, 7)
        put(0, 7)
        return result
    }
}
