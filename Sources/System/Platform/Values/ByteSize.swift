// Numbers of bytes as people write them.

/// A number of bytes as `truncate -s` takes it: a decimal number, followed by K, M, G or T for a power of 1024.
public struct ByteSize: Equatable, Sendable {
    /// 0 or more. A lower limit is for the user to check, who knows the use.
    public let bytes: Int64

    /// - Returns: nil for anything but digits with an optional unit, and for more than 63 bits.
    public init?(_ text: String) {
        guard let last = text.last else { return nil }
        let powers: [Character: Int64] = ["K": 1, "M": 2, "G": 3, "T": 4]
        let power = powers[Character(last.uppercased())]
        let digits = power == nil ? Substring(text) : text.dropLast()
        // Int64 would accept a sign.
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int64(digits) else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << (10 * (power ?? 0)))
        guard !overflow else { return nil }
        self.bytes = bytes
    }
}
