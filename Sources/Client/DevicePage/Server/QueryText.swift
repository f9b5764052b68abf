// The part of an address behind the question mark: names and values.

/// The values of a query, with percent signs decoded (RFC 3986, and `+` for a blank as forms have it).
struct QueryText {
    private let values: [String: String]

    init(_ text: String) {
        var values: [String: String] = [:]
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = QueryText.decode(parts[0]), values[name] == nil else { continue }
            values[name] = parts.count > 1 ? QueryText.decode(parts[1]) : ""
        }
        self.values = values
    }

    /// - Returns: nil for a name that is not there, or whose value is not UTF-8. Of several values the first counts.
    subscript(_ name: String) -> String? { values[name] }

    private static func decode(_ text: some Collection<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                // A sign is a number to the standard library.
                guard digits.count == 2, digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-"),
                    let decoded = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(decoded)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
