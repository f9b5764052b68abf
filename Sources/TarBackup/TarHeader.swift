// One block of 512 bytes before an entry, as POSIX has it for ustar.

import Glibc

/// The header of an entry. What does not fit into its fields is in extended records before it.
struct TarHeader {
    enum Kind: UInt8 {
        case file = 0x30
        case hardLink = 0x31
        case symbolicLink = 0x32
        case directory = 0x35
        case fifo = 0x36
        /// The extended records of the entry that follows.
        case extended = 0x78
    }

    static let blockSize = 512
    static let longestName = 100
    /// 12 bytes of octal digits, the last of them NUL.
    static let largestNumber: Int64 = 1 << 33 - 1
    /// 8 bytes of octal digits, the last of them NUL.
    static let largestIdentifier: UInt32 = 1 << 21 - 1

    /// Without NUL, at most 100 bytes; so is the target of a link.
    var name: [UInt8]
    var kind: Kind
    var permissions: mode_t = 0o600
    var owner: uid_t = 0
    var group: gid_t = 0
    /// Bytes of content that follow.
    var size: Int64 = 0
    /// Whole seconds since 1970.
    var modified: Int64 = 0
    var linkTarget: [UInt8] = []

    /// Up to the next whole block.
    static func padded(_ count: Int64) -> Int64 { (count + 511) & ~511 }

    init(name: [UInt8], kind: Kind) {
        (self.name, self.kind) = (name, kind)
    }

    // MARK: Writing

    func append(to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.reserveCapacity(start + TarHeader.blockSize)
        TarHeader.append(name, width: 100, to: &bytes)
        TarHeader.append(octal: Int64(permissions), width: 8, to: &bytes)
        TarHeader.append(octal: Int64(owner), width: 8, to: &bytes)
        TarHeader.append(octal: Int64(group), width: 8, to: &bytes)
        TarHeader.append(octal: size, width: 12, to: &bytes)
        TarHeader.append(octal: modified, width: 12, to: &bytes)
        // For the checksum its own field counts as spaces.
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 8))
        bytes.append(kind.rawValue)
        TarHeader.append(linkTarget, width: 100, to: &bytes)
        bytes += TarHeader.magic
        // No names of users and groups, no device numbers, no prefix.
        bytes.append(contentsOf: repeatElement(0, count: start + TarHeader.blockSize - bytes.count))
        var field: [UInt8] = []
        TarHeader.append(octal: TarHeader.sum(bytes[start...]), width: 7, to: &field)
        for (index, byte) in field.enumerated() { bytes[start + 148 + index] = byte }
    }

    private static let magic = Array("ustar\u{0}00".utf8)

    private static func append(_ text: [UInt8], width: Int, to bytes: inout [UInt8]) {
        precondition(text.count <= width)
        bytes += text
        bytes.append(contentsOf: repeatElement(0, count: width - text.count))
    }

    /// Digits to the last but one byte of the field, and NUL.
    private static func append(octal number: Int64, width: Int, to bytes: inout [UInt8]) {
        var shift = 3 * (width - 2)
        precondition(number >= 0 && number >> (shift + 3) == 0)
        while shift >= 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number >> shift & 7))
            shift -= 3
        }
        bytes.append(0)
    }

    private static func sum(_ block: ArraySlice<UInt8>) -> Int64 {
        var sum: Int64 = 0
        for byte in block { sum += Int64(byte) }
        return sum
    }

    // MARK: Reading

    /// Whether the block's checksum says that it is a header at all, whoever wrote it.
    static func isHeader(_ block: [UInt8]) -> Bool {
        var blanked = block
        for index in 148..<156 { blanked[index] = UInt8(ascii: " ") }
        return (try? number(block[148..<156])) == sum(blanked[...])
    }

    /// - Parameter block: 512 bytes.
    init(_ block: [UInt8]) throws(BackupFlaw) {
        let name = TarHeader.text(block[0..<100])
        guard TarHeader.isHeader(block), block[257..<265].elementsEqual(TarHeader.magic) else {
            throw BackupFlaw("was altered: what should be the header of an entry is none; use another copy of it")
        }
        switch block[156] {
        case UInt8(ascii: "3"), UInt8(ascii: "4"):
            throw BackupFlaw("has a device node, which no container holds: \(name.shown)")
        case let byte:
            guard let kind = Kind(rawValue: byte) else {
                throw BackupFlaw("has an entry of a kind that no backup has: \(name.shown)")
            }
            self.init(name: name, kind: kind)
        }
        permissions = mode_t(truncatingIfNeeded: try TarHeader.number(block[100..<108]) & 0o7777)
        owner = uid_t(truncatingIfNeeded: try TarHeader.number(block[108..<116]))
        group = gid_t(truncatingIfNeeded: try TarHeader.number(block[116..<124]))
        size = try TarHeader.number(block[124..<136])
        modified = try TarHeader.number(block[136..<148])
        linkTarget = TarHeader.text(block[157..<257])
    }

    private static func text(_ field: ArraySlice<UInt8>) -> [UInt8] {
        Array(field.prefix { $0 != 0 })
    }

    private static func number(_ field: ArraySlice<UInt8>) throws(BackupFlaw) -> Int64 {
        var number: Int64 = 0
        for byte in field {
            if byte == 0 || byte == UInt8(ascii: " ") { break }
            guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(byte) else {
                throw BackupFlaw("was altered: the header of an entry has no number where one should be")
            }
            number = number << 3 | Int64(byte - UInt8(ascii: "0"))
        }
        return number
    }
}
