// The findings of a verification.

/// One difference between a bundle and its seal.
public struct SealBreak: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        /// The file exists, and differs from its seal.
        case changed
        /// The file was sealed, and does not exist.
        case missing
        /// The file exists, and was not sealed.
        case added
        /// The signature itself is invalid.
        case signature
    }

    public let kind: Kind
    /// The path from the bundle's directory, for people: with U+FFFD for bytes that are not UTF-8.
    public let path: String

    public init(_ kind: Kind, _ path: String) {
        self.kind = kind
        self.path = path
    }
}

/// The outcome of a verification.
public struct SealReport: Sendable {
    /// All differences, sorted by path. Empty for a valid seal.
    public internal(set) var breaks: [SealBreak]
    /// Remarks for the user that do not make the seal invalid.
    public internal(set) var warnings: [String]
    /// The common name of the signer's certificate; nil for an invalid or ad hoc signature.
    public internal(set) var signer: String?

    public var isValid: Bool { breaks.isEmpty }
}
