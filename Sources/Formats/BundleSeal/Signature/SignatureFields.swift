// Integers as code signatures and Mach-O files hold them.

enum ByteOrder: Sendable {
    case big
    case little
}

/// Reading asks for a range that the caller has checked. Not generic, because headers are read much more often than
/// integers of other widths come along.
extension [UInt8] {
    func word(at offset: Int, _ order: ByteOrder = .big) -> UInt32 {
        var value: UInt32 = 0
        for index in offset..<offset + 4 { value = value << 8 | UInt32(self[index]) }
        return order == .big ? value : value.byteSwapped
    }

    func longWord(at offset: Int, _ order: ByteOrder = .big) -> UInt64 {
        let value = UInt64(word(at: offset)) << 32 | UInt64(word(at: offset + 4))
        return order == .big ? value : value.byteSwapped
    }

    mutating func append(word value: UInt32) {
        for shift in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
    }

    mutating func append(longWord value: UInt64) {
        append(word: UInt32(truncatingIfNeeded: value >> 32))
        append(word: UInt32(truncatingIfNeeded: value))
    }
}
