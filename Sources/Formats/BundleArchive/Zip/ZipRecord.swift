// One entry of a zip archive: its record in the central directory, and its local header.

import Glibc
import Platform
import SandboxModel

/// The central directory's record of an entry (APPNOTE.TXT, 4.3.12), which the local header has to confirm.
struct ZipRecord {
    enum Method: UInt16 {
        case stored = 0
        case deflated = 8
    }

    /// The path, as stored: any bytes.
    let name: [UInt8]
    let method: Method
    /// CRC-32 of the content.
    let checksum: UInt32
    /// Bytes of the content in the archive.
    let compressed: Int64
    /// Bytes of the content after unpacking.
    let size: Int64
    /// The byte offset of the local header, which precedes the content.
    let offset: Int64
    /// The byte offset of the content; known once the local header is read.
    private(set) var content: Int64 = 0
    /// Whether the name is marked as UTF-8.
    let isMarkedUTF8: Bool
    private let flags: UInt16
    /// The mode, if the archive was made on a system that has modes; else 0.
    let mode: mode_t
    /// Whether the DOS attributes say that the entry is a directory.
    let isMarkedDirectory: Bool

    private static let localSignature: UInt32 = 0x0403_4B50
    /// Encrypted, strongly encrypted, and with an encrypted table (APPNOTE.TXT, 4.4.4).
    private static let encryption: UInt16 = 1 << 0 | 1 << 6 | 1 << 13

    /// Decodes a record.
    /// - Parameter start: the record's offset in the buffer, which holds all of it.
    /// - Throws: ``ArchiveFault/refused(_:)`` for encryption, another compression method and too long a name.
    init(_ bytes: PageBuffer, at start: Int, name nameLength: Int, extra extraLength: Int) throws(ArchiveFault) {
        name = bytes.bytes(start + 46, count: nameLength)
        guard nameLength <= AppArchive.longestPath else { throw .refused("\(name.shown) has too long a name") }
        flags = bytes.load(UInt16.self, at: start + 8)
        guard flags & ZipRecord.encryption == 0 else { throw .refused("\(name.shown) is encrypted") }
        let number = bytes.load(UInt16.self, at: start + 10)
        // Only the two methods of app archives, so that no other decompressor of libarchive is reached.
        guard let method = Method(rawValue: number) else {
            throw .refused("\(name.shown) is compressed by method \(number); an app's files are stored or deflated")
        }
        self.method = method
        checksum = bytes.load(UInt32.self, at: start + 16)
        isMarkedUTF8 = flags & 1 << 11 != 0
        let maker = bytes.load(UInt8.self, at: start + 5)
        let attributes = bytes.load(UInt32.self, at: start + 38)
        // Made on UNIX (3) or Darwin (19); 0 is DOS.
        mode = maker == 3 || maker == 19 ? mode_t(attributes >> 16) : 0
        isMarkedDirectory = maker == 0 && attributes & 0x10 != 0
        var large = [24, 20, 42].map { UInt64(bytes.load(UInt32.self, at: start + $0)) }
        try ZipRecord.readExtra(bytes, start + 46 + nameLength, extraLength, name, &large)
        guard let size = Int64(exactly: large[0]), let compressed = Int64(exactly: large[1]),
            let offset = Int64(exactly: large[2])
        else { throw .contradiction }
        (self.size, self.compressed, self.offset) = (size, compressed, offset)
        // libarchive does not verify the checksum of empty content.
        guard method == .deflated || size == compressed, compressed > 0 || (size == 0 && checksum == 0) else {
            throw .refused("\(name.shown) is damaged")
        }
    }

    /// Reads the extra fields: zip64 (1) and the Unicode path (0x7075).
    /// - Parameter large: size, compressed size and offset; those that are all ones are replaced by the zip64 field's.
    private static func readExtra(
        _ bytes: PageBuffer, _ start: Int, _ length: Int, _ name: [UInt8], _ large: inout [UInt64]
    ) throws(ArchiveFault) {
        var position = start
        while position + 4 <= start + length {
            let kind = bytes.load(UInt16.self, at: position)
            let end = position + 4 + Int(bytes.load(UInt16.self, at: position + 2))
            guard end <= start + length else { throw .contradiction }
            position += 4
            if kind == 0x0001 {
                for index in large.indices where large[index] == UInt64(UInt32.max) {
                    guard position + 8 <= end else { throw .contradiction }
                    large[index] = bytes.load(UInt64.self, at: position)
                    position += 8
                }
            } else if kind == 0x7075, end - position > 5 {
                // Only some readers use the name of Info-ZIP's Unicode path.
                guard bytes.bytes(position + 5, count: end - position - 5) == name else {
                    throw .refused("\(name.shown) has two names")
                }
            }
            position = end
        }
    }

    /// Finds the content, and checks that the local header agrees with the central directory.
    mutating func readLocalHeader(
        _ file: borrowing Descriptor, _ window: inout ArchiveWindow
    ) throws(ArchiveFault) {
        let start = try window.fetch(file, offset, 30 + name.count)
        let bytes = window.buffer
        let sizes = [26, 28].map { Int(bytes.load(UInt16.self, at: start + $0)) }
        guard bytes.load(UInt32.self, at: start) == ZipRecord.localSignature, sizes[0] == name.count,
            bytes.bytes(start + 30, count: name.count) == name,
            // Bit 3, which says that the sizes follow the content, may differ.
            (bytes.load(UInt16.self, at: start + 6) ^ flags) & ~(1 << 3) == 0,
            bytes.load(UInt16.self, at: start + 8) == method.rawValue
        else { throw .contradiction }
        // Zero if the sizes follow the content, all ones if they are in the zip64 field.
        for (field, value) in [(14, UInt64(checksum)), (18, UInt64(compressed)), (22, UInt64(size))] {
            let local = bytes.load(UInt32.self, at: start + field)
            guard local == 0 || UInt64(local) == value || (field != 14 && local == .max) else { throw .contradiction }
        }
        content = offset + 30 + Int64(sizes[0] + sizes[1])
    }

    /// CRC-32 as in zip, bit by bit: for short content only.
    static func checksum(of bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { checksum, byte in
            (0..<8).reduce(checksum ^ UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }
}
