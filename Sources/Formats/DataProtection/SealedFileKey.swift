// The key that authenticates ciphertext in a backup.

/// A key derived from the UID key and a keybag's identifier: by its code, a device knows ciphertext in a backup for
/// its own.
///
/// The ciphertext of a file whose class is closed cannot be verified by its own seals, because their key is closed too.
public final class SealedFileKey: Sendable {
    let secret: SecretCell

    /// Bytes of an authentication code.
    public static let codeLength = SecretCell.count
    private static let label = Array("appcontainer backup 1: sealed files".utf8)

    /// - Parameter keybag: its identifier.
    public init(_ uidKey: UIDKey, keybag: [UInt8]) {
        secret = Derivation.hkdf(uidKey.secret, salt: keybag, label: SealedFileKey.label)
    }

    /// The key that a keybag under a backup password has.
    init(_ secret: consuming SecretCell) {
        self.secret = secret
    }

    /// HMAC with SHA-256.
    public func authenticationCode(over bytes: [UInt8]) -> [UInt8] {
        Derivation.authenticationCode(secret, over: bytes)
    }

    /// Whether a code is that of the bytes. Takes as long for a wrong one.
    public func authenticates(_ code: [UInt8], over bytes: [UInt8]) -> Bool {
        let expected = authenticationCode(over: bytes)
        guard code.count == expected.count else { return false }
        return zip(code, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
