// Bytes as hexadecimal digits, for digests, identifiers and random names.

extension [UInt8] {
    /// Two lower-case digits for each byte.
    public var hexadecimal: String {
        // Exactly `capacity` elements are initialized: two for each byte.
        unsafe String(unsafeUninitializedCapacity: 2 * count) { text in
            for (index, byte) in self.enumerated() {
                unsafe text[2 * index] = [UInt8].digit(byte >> 4)
                unsafe text[2 * index + 1] = [UInt8].digit(byte & 15)
            }
            return 2 * count
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Parses the form that ``hexadecimal`` gives.
    /// - Returns: nil unless the text consists of pairs of lower-case digits.
    public init?(hexadecimal text: ArraySlice<UInt8>) {
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
