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

/// The facts of one bundle's signature that holds.
public struct SealedFacts: Sendable {
    /// The signer, its team and what the code is entitled to; nil where they have a flaw.
    public internal(set) var signature: AppSignature?
    /// The profile that bounds the entitlements; nil without one.
    public internal(set) var profile: ProvisioningProfile?
    /// The flaw of the entitlements, or of the profile, for people; nil without one.
    public internal(set) var flaw: String?
}

/// An app extension in a bundle, sealed as nested code.
public struct SealedExtension: Sendable {
    /// The name of its bundle in `PlugIns`, such as `Share.appex`.
    public let name: FileName
    public let facts: SealedFacts
}

/// The outcome of a verification.
public struct SealReport: Sendable {
    /// All differences, sorted by path. Empty for a valid seal.
    public internal(set) var breaks: [SealBreak]
    /// Remarks for the user that do not make the seal invalid.
    public internal(set) var warnings: [String]
    /// The common name of the signer's certificate; nil for an invalid or ad hoc signature.
    public internal(set) var signer: String?
    /// Of the outermost bundle; nil unless the signature holds.
    public internal(set) var facts: SealedFacts?
    /// The app extensions, sorted by name. They count only where the seal is valid.
    public internal(set) var extensions: [SealedExtension] = []

    /// The signer, its team and what the app is entitled to; nil unless the signature holds.
    public var signature: AppSignature? { facts?.signature }
    /// The profile that bounds the app's entitlements; nil without one.
    public var profile: ProvisioningProfile? { facts?.profile }
    /// The flaw of the app's entitlements or profile, or of an extension's, for people; nil without one.
    public var entitlementFlaw: String? {
        facts?.flaw ?? extensions.lazy.compactMap { part in part.facts.flaw.map { "\(part.name.text): \($0)" } }.first
    }

    /// Whether the bundle is as it was sealed, by a signer that is trusted. Its entitlements may have a flaw.
    public var isValid: Bool { breaks.isEmpty }
}
