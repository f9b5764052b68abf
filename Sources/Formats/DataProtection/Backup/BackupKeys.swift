// The opened class keys of a backup, which wrap the keys of its files.

/// The opened class keys of a backup. Not thread-safe.
public final class BackupKeys {
    private var wraps: [UInt32: KeyWrap] = [:]

    init() {}

    /// Adds a class key. Only its schedules are kept.
    func insert(_ key: consuming SecretCell, for number: UInt32) {
        wraps[number] = KeyWrap(under: key)
    }

    /// A cipher with a new random key.
    /// - Returns: also the wrapped key as in MBFile and `Manifest.plist`: four bytes of the class, little-endian, then
    ///   40 wrapped bytes. nil if the keybag has no such class.
    public func encryption(class number: UInt32) -> (cipher: BackupCipher, wrappedKey: [UInt8])? {
        guard let wrap = wraps[number] else { return nil }
        let key = SecretCell.random()
        let prefix = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return (BackupCipher(key: key, vector: nil, encrypting: true), wrap.wrap(key, after: prefix))
    }

    /// A cipher for decryption with a wrapped key.
    /// - Parameter vector: the ciphertext block before the first decrypted one; nil at the beginning.
    /// - Returns: nil unless the key was wrapped under one of these classes.
    public func decryption(wrappedKey: [UInt8], vector: [UInt8]? = nil) -> BackupCipher? {
        guard wrappedKey.count == 4 + KeyWrap.wrappedLength else { return nil }
        let number = wrappedKey.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard let key = wraps[number]?.unwrap(wrappedKey.dropFirst(4)) else { return nil }
        return BackupCipher(key: key, vector: vector, encrypting: false)
    }
}
