// What one guess of a passcode costs.

/// The parameters of scrypt, as the keybag stores them.
public struct PasscodeCost: Equatable, Sendable {
    /// The binary logarithm of scrypt's N.
    public let level: Int
    let blockSize: UInt32
    let parallelism: UInt32

    /// From the cheapest that libcrypto accepts, for tests, to a gigabyte for each guess.
    public static let levels = 1...20

    /// 32 MiB and about 80 ms, the time that Apple's platform security guide names for one guess.
    public static let standard = PasscodeCost(level: 15)!

    /// - Parameter level: each step doubles time and memory.
    /// - Returns: nil for a level outside ``levels``.
    public init?(level: Int) {
        self.init(level: level, blockSize: 8, parallelism: 1)
    }

    init?(level: Int, blockSize: UInt32, parallelism: UInt32) {
        guard PasscodeCost.levels.contains(level) else { return nil }
        guard (1...32).contains(blockSize), (1...16).contains(parallelism) else { return nil }
        // RFC 7914, 6 asks for N < 2^(16 r). And what a keybag may ask for is bounded by a gigabyte, so that no file
        // makes the process run out of memory.
        guard level < 16 * blockSize, UInt64(blockSize) << UInt64(level) <= 1 << 23 else { return nil }
        self.level = level
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    var iterations: UInt64 { 1 << UInt64(level) }

    /// What scrypt needs at these parameters; libcrypto's own limit would refuse the standard ones.
    var memoryLimit: UInt64 {
        128 * UInt64(blockSize) * (iterations + UInt64(parallelism) + 2) + 4096
    }
}
