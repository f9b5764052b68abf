// Why a part of a seal could not be understood.

/// A part of a seal that is not what the format asks for. The text names the part, for people.
public struct SealFault: Error, Hashable, Sendable {
    public let reason: String

    public init(_ reason: String) {
        self.reason = reason
    }
}
