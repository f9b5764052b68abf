// The error of malformed parts of a seal.

/// A part of a seal that does not conform to its format.
public struct SealFault: Error, Hashable, Sendable {
    /// The part and its flaw, for people.
    public let reason: String

    public init(_ reason: String) {
        self.reason = reason
    }
}
