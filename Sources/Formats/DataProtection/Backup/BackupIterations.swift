// The cost of a guess of a backup's password.

/// The iterations of PBKDF2 that a backup's password goes through.
public struct BackupIterations: Hashable, Sendable {
    /// PBKDF2 with SHA-256, the first of two: `DPIC`.
    public let outer: UInt32
    /// PBKDF2 with SHA-1 over its result: `ITER`.
    public let inner: UInt32

    /// The counts of a phone's backup: a guess takes some seconds.
    public static let apple = BackupIterations(outer: 10_000_000, inner: 10_000)!

    /// Twice and a hundred times Apple's counts, so that no backup keeps a reader busy for hours.
    static let mostOuter: UInt32 = 20_000_000
    static let mostInner: UInt32 = 1_000_000

    /// - Returns: nil for zero, and for counts beyond the limits.
    public init?(outer: UInt32, inner: UInt32) {
        guard (1...BackupIterations.mostOuter).contains(outer), (1...BackupIterations.mostInner).contains(inner)
        else { return nil }
        self.outer = outer
        self.inner = inner
    }
}

/// The parameters that turn a password into the key over a backup's class keys.
struct BackupKeyDerivation: Equatable, Sendable {
    let counts: BackupIterations
    /// `DPSL`.
    let outerSalt: [UInt8]
    /// `SALT`.
    let innerSalt: [UInt8]

    static let saltLength = 20
    /// More than any keybag has, far less than a length field can claim.
    private static let longestSalt = 1024

    /// - Returns: nil if a salt is empty or too long.
    init?(counts: BackupIterations, outerSalt: [UInt8], innerSalt: [UInt8]) {
        let lengths = 1...BackupKeyDerivation.longestSalt
        guard lengths.contains(outerSalt.count), lengths.contains(innerSalt.count) else { return nil }
        self.counts = counts
        self.outerSalt = outerSalt
        self.innerSalt = innerSalt
    }
}
