// The marks between which a purge works.

/// The low-water and the high-water mark of a device, in percent of its capacity.
public struct SpaceMarks: Hashable, Sendable {
    /// A purge begins when less than this is available.
    public let low: Double
    /// A purge ends when this is available.
    public let high: Double

    public static let usual = SpaceMarks(low: 5, high: 10)!

    public init() { self = .usual }

    /// - Returns: nil unless 0 <= low <= high <= 100.
    public init?(low: Double, high: Double) {
        guard low >= 0, low <= high, high <= 100 else { return nil }
        self.low = low
        self.high = high
    }
}
