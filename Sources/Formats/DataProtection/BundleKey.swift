// The key that authenticates a bundle's list of digests.

/// A key derived from the UID key and the name of the bundle's container, so that no list of another device or another
/// bundle passes for this one.
public final class BundleKey: Sendable {
    private let secret: SecretCell

    /// Bytes of an authentication code.
    public static let codeLength = SecretCell.count

    /// - Parameter container: the name of the bundle's container.
    public init(_ uidKey: UIDKey, container: String) {
        secret = Derivation.hkdf(uidKey.secret, salt: Array(container.utf8), label: Array("bundle digests".utf8))
    }

    /// HMAC with SHA-256.
    public func authenticationCode(over bytes: [UInt8]) -> [UInt8] {
        Derivation.authenticationCode(secret, over: bytes)
    }

    /// Whether a code is that of these bytes. Compares in constant time.
    public func isAuthentic(_ code: [UInt8], over bytes: [UInt8]) -> Bool {
        Derivation.areEqual(authenticationCode(over: bytes), code)
    }
}
