// The key that authenticates what a device has verified of a bundle.

/// Made of the device's own key and the name of the bundle's container, so that neither another device's list nor
/// another bundle's passes for this one's.
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
}
