// The class keys of a backup whose password was given, and the keys of its files wrapped under them.

/// Opened class keys. Not for two threads at once.
public final class BackupKeys {
    private var wraps: [UInt32: KeyWrap] = [:]

    init() {}

    /// The key itself is zeroed when its schedules are made.
    func insert(_ key: consuming SecretCell, for number: UInt32) {
        wraps[number] = KeyWrap(under: key)
    }

    /// Encryption under a new random key.
    /// - Returns: also that key as MBFile and `Manifest.plist` have it: the class in four bytes, the least significant
    ///   first, and 40 wrapped bytes. nil when the keybag has no such class.
    public func encryption(class number: UInt32) -> (cipher: BackupCipher, wrappedKey: [UInt8])? {
        guard let wrap = wraps[number] else { return nil }
        let key = SecretCell.random()
        let prefix = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return (BackupCipher(key: key, vector: nil, encrypting: true), wrap.wrap(key, after: prefix))
    }

    /// Decryption with the key that was wrapped.
    /// - Parameter vector: the block of ciphertext before the first that is decrypted; nil at the beginning.
    /// - Returns: nil when the bytes are no key that was wrapped under one of these classes.
    public func decryption(wrappedKey: [UInt8], vector: [UInt8]? = nil) -> BackupCipher? {
        guard wrappedKey.count == 4 + KeyWrap.wrappedLength else { return nil }
        let number = wrappedKey.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard let key = wraps[number]?.unwrap(wrappedKey.dropFirst(4)) else { return nil }
        return BackupCipher(key: key, vector: vector, encrypting: false)
    }
}
