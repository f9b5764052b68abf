// The keys that authenticate the records of a device.

/// A key for each kind of record, derived from the UID key, the device's identifier and the record's name. So neither a
/// record of another device, of a clone for instance, nor one under another name passes.
public final class RecordKeys: Sendable {
    private let secret: SecretCell
    private let salt: [UInt8]

    /// Bytes of an authentication code.
    public static let codeLength = SecretCell.count

    /// - Parameter device: the device's identifier.
    public init(_ uidKey: UIDKey, device: String) {
        salt = Array("device \(device)".utf8)
        secret = Derivation.hkdf(uidKey.secret, salt: salt, label: Array("appcontainer records 1".utf8))
    }

    /// HMAC with SHA-256.
    /// - Parameter record: the record's name.
    public func authenticationCode(over bytes: [UInt8], of record: String) -> [UInt8] {
        let key = Derivation.hkdf(secret, salt: salt, label: Array("appcontainer record 1: \(record)".utf8))
        return Derivation.authenticationCode(key, over: bytes)
    }

    /// Whether a code is that of these bytes. Compares in constant time.
    public func isAuthentic(_ code: [UInt8], over bytes: [UInt8], of record: String) -> Bool {
        Derivation.areEqual(authenticationCode(over: bytes, of: record), code)
    }
}
