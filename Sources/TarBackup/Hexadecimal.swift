// Digests and identifiers as text.

extension [UInt8] {
    /// Two digits for each byte.
    var hexadecimal: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(2 * count)
        for byte in self {
            text.append([UInt8].digits[Int(byte >> 4)])
            text.append([UInt8].digits[Int(byte & 15)])
        }
        return text
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// - Returns: nil unless there are two digits for each byte, in small letters.
    init?(hexadecimal text: some Collection<UInt8>) {
        guard text.count.isMultiple(of: 2) else { return nil }
        self = []
        reserveCapacity(text.count / 2)
        var high: UInt8?
        for character in text {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
    }
}

extension [UInt8] {
    /// The name of an attribute, of which libarchive writes many a byte as `%` and two digits.
    var unescaped: [UInt8] {
        guard contains(UInt8(ascii: "%")) else { return self }
        var bytes: [UInt8] = []
        var rest = self[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let known = [UInt8](hexadecimal: rest.prefix(2).map { $0 | 0x20 }),
                known.count == 1
            {
                bytes += known
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
