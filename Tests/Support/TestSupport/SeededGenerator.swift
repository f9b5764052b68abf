// Chance that can be had again.

/// Repeatable random numbers: a failing seed is part of the failure's message.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    public mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    /// The bytes with a few of them changed, and sometimes cut.
    public mutating func damaged(_ whole: [UInt8]) -> [UInt8] {
        var bytes = whole
        for _ in 0..<1 + next() % 3 {
            bytes[Int(next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: next())
        }
        if next() % 4 == 0 { bytes.removeLast(Int(next() % UInt64(bytes.count))) }
        return bytes
    }

    public mutating func bytes(_ count: Int) -> [UInt8] {
        let words = (0..<(count + 7) / 8).map { _ in next() }
        return unsafe words.withUnsafeBytes { unsafe Array(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
    }
}
