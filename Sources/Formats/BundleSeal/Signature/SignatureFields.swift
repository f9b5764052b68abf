// Integers of code signatures, which are big-endian, and of Mach-O files, which have either order.

enum ByteOrder: Sendable {
    case big
    case little
}

/// The caller has checked that the range exists. Two functions instead of a generic one: the format has two widths.
extension [UInt8] {
    /// Reads 32 bits.
    func word(at offset: Int, _ order: ByteOrder = .big) -> UInt32 {
        var value: UInt32 = 0
        for index in offset..<offset + 4 { value = value << 8 | UInt32(self[index]) }
        return order == .big ? value : value.byteSwapped
    }

    /// Reads 64 bits.
    func longWord(at offset: Int, _ order: ByteOrder = .big) -> UInt64 {
        let value = UInt64(word(at: offset)) << 32 | UInt64(word(at: offset + 4))
        return order == .big ? value : value.byteSwapped
    }

    /// Appends 32 bits, big-endian.
    mutating func append(word value: UInt32) {
        for shift in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
    }

    /// Appends 64 bits, big-endian.
    mutating func append(longWord value: UInt64) {
        append(word: UInt32(truncatingIfNeeded: value >> 32))
        append(word: UInt32(truncatingIfNeeded: value))
    }
}
