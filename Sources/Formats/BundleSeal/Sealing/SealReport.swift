// The findings of a verification.

public import SandboxModel

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
        /// The signature holds, and its signer is none of those that are trusted.
        case untrusted
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
    /// The signer, its team and what the app is entitled to; nil unless the signature holds.
    public internal(set) var signature: AppSignature?
    /// The profile that bounds the entitlements; nil without one.
    public internal(set) var profile: ProvisioningProfile?
    /// The flaw of the entitlements, or of the profile, for people; nil without one.
    public internal(set) var entitlementFlaw: String?

    /// Whether the bundle is as it was sealed, by a signer that is trusted. Its entitlements may have a flaw.
    public var isValid: Bool { breaks.isEmpty }
}
