// The cost of one guess of a passcode.

/// The parameters of scrypt (RFC 7914), as the keybag stores them.
public struct PasscodeCost: Equatable, Sendable {
    /// The binary logarithm of scrypt's N.
    public let level: Int
    let blockSize: UInt32
    let parallelism: UInt32

    /// From the cheapest that libcrypto accepts, for tests, to a gigabyte for a guess.
    public static let levels = 1...20

    /// The cost in a keybag without a passcode, which derives nothing.
    static let unused = PasscodeCost(level: 15)!

    /// The time of one guess, by Apple's platform security guide.
    private static let goal = Duration.milliseconds(80)
    /// Measured costs take from 16 MiB, however slow the machine is at that moment, to 64 MiB.
    private static let measuredLevel = 14
    private static let measuredBlockSizes: ClosedRange<UInt32> = 8...32

    /// - Parameter level: each step doubles time and memory.
    /// - Returns: nil for a level outside ``levels``.
    public init?(level: Int) {
        self.init(level: level, blockSize: 8, parallelism: 1)
    }

    init?(level: Int, blockSize: UInt32, parallelism: UInt32) {
        guard PasscodeCost.levels.contains(level) else { return nil }
        guard (1...32).contains(blockSize), (1...16).contains(parallelism) else { return nil }
        // N < 2^(16 r) by RFC 7914, 6; and at most a gigabyte, so that no keybag exhausts the memory.
        guard level < 16 * blockSize, UInt64(blockSize) << UInt64(level) <= 1 << 23 else { return nil }
        self.level = level
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// Whether a guess is cheaper than a chosen level, or than any measured cost.
    func isCheaper(than level: Int?) -> Bool {
        let cheapest = PasscodeCost.measurable(Double(PasscodeCost.measuredBlockSizes.lowerBound))
        let least = level.flatMap { PasscodeCost(level: $0) } ?? cheapest
        return work < least.work
    }

    /// Grows with the time and the memory of a guess.
    var work: UInt64 { UInt64(blockSize) << UInt64(level) }

    /// The cost of a guess of about 80 ms on this machine. Measuring takes some 50 ms.
    public static func measured() -> PasscodeCost {
        measured { cost in
            ContinuousClock().measure { _ = Derivation.scryptIfPossible([0], salt: [0], cost: cost) }
        }
    }

    /// - Parameter time: measures one guess.
    static func measured(by time: (PasscodeCost) -> Duration) -> PasscodeCost {
        let blockSizes = measuredBlockSizes.map(Double.init)
        let cheapest = blockSizes[0]
        // Time and memory both grow with the block size.
        let ideal = cheapest * (goal / time(measurable(cheapest)))
        return measurable(blockSizes.min { abs($0 - ideal) < abs($1 - ideal) }!)
    }

    private static func measurable(_ blockSize: Double) -> PasscodeCost {
        PasscodeCost(level: measuredLevel, blockSize: UInt32(blockSize), parallelism: 1)!
    }

    var iterations: UInt64 { 1 << UInt64(level) }

    /// The bytes that scrypt needs at these parameters, and a margin: libcrypto's default limit would refuse the usual
    /// ones.
    var memoryLimit: UInt64 {
        128 * UInt64(blockSize) * (iterations + UInt64(parallelism) + 2) + 4096
    }
}
