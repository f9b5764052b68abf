// What a verification found.

/// One way in which a bundle differs from what was sealed.
public struct SealBreak: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        /// It is there, and is not what was sealed.
        case changed
        /// It was sealed, and is not there.
        case missing
        /// It is there, and was not sealed.
        case added
        /// The signature itself does not hold.
        case signature
    }

    public let kind: Kind
    /// From the bundle's directory. Bytes that are not UTF-8 show as replacement characters.
    public let path: String

    public init(_ kind: Kind, _ path: String) {
        self.kind = kind
        self.path = path
    }
}

/// The outcome of a verification.
public struct SealReport: Sendable {
    /// By path. Empty when the seal is whole.
    public internal(set) var breaks: [SealBreak]
    /// What the user should know although it breaks no seal.
    public internal(set) var warnings: [String]
    /// The common name of the signer's certificate; nil for a signature that does not hold or names nobody.
    public internal(set) var signer: String?

    public var isValid: Bool { breaks.isEmpty }
}
