// The derivation of keys from other keys, passcodes and passwords: HKDF, HMAC, scrypt and PBKDF2 of libcrypto.

import COpenSSL

/// The functions that derive keys. Secrets stay in cells; only passcodes and passwords are plain bytes.
enum Derivation {
    /// HKDF with SHA-256 (RFC 5869), 32 bytes.
    /// - Parameter label: the purpose of the key. Keys of different labels are independent.
    static func hkdf(_ secret: borrowing SecretCell, salt: [UInt8], label: [UInt8]) -> SecretCell {
        let key = unsafe UnsafeMutableRawBufferPointer(start: secret.base, count: SecretCell.count)
        return unsafe hkdf(key, salt: salt, label: label)
    }

    /// The same from key material of any length, which is read during the call only.
    static func hkdf(_ key: UnsafeMutableRawBufferPointer, salt: [UInt8], label: [UInt8]) -> SecretCell {
        let derived = SecretCell()
        let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil)!
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var count = SecretCell.count
        // The setters copy what they are given.
        let done =
            unsafe EVP_PKEY_derive_init(context) == 1
            && EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1
            && EVP_PKEY_CTX_set1_hkdf_salt(context, salt, Int32(salt.count)) == 1
            && EVP_PKEY_CTX_set1_hkdf_key(
                context, key.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(key.count)) == 1
            && EVP_PKEY_CTX_add1_hkdf_info(context, label, Int32(label.count)) == 1
            && EVP_PKEY_derive(context, derived.base.assumingMemoryBound(to: UInt8.self), &count) == 1
        precondition(done && count == SecretCell.count, "HKDF failed")
        return derived
    }

    /// HMAC with SHA-256.
    static func authenticationCode(_ key: borrowing SecretCell, over bytes: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: SecretCell.count)
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe code.withUnsafeMutableBytes { code in unsafe hmac(key, over: bytes, into: code.baseAddress!) }
        }
        return code
    }

    /// Compares two codes in constant time: every byte is looked at.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// HMAC with SHA-256 of one secret under another.
    static func tangle(_ secret: borrowing SecretCell, with key: borrowing SecretCell) -> SecretCell {
        let result = SecretCell()
        unsafe hmac(key, over: UnsafeRawBufferPointer(start: secret.base, count: SecretCell.count), into: result.base)
        return result
    }

    /// scrypt (RFC 7914), 32 bytes.
    static func scrypt(_ passcode: [UInt8], salt: [UInt8], cost: PasscodeCost) -> SecretCell {
        let derived = scryptIfPossible(passcode, salt: salt, cost: cost)
        precondition(derived != nil, "scrypt failed: out of memory")
        return derived!
    }

    /// scrypt, where somebody else has chosen how much memory it takes.
    /// - Returns: nil where the host does not give that memory.
    static func scryptIfPossible(_ passcode: [UInt8], salt: [UInt8], cost: PasscodeCost) -> SecretCell? {
        let derived = SecretCell()
        let done = unsafe passcode.withUnsafeBytes { bytes in
            unsafe EVP_PBE_scrypt(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? UnsafePointer(emptyPasscode), bytes.count,
                salt,
                salt.count, cost.iterations, UInt64(cost.blockSize), UInt64(cost.parallelism), cost.memoryLimit,
                derived.base.assumingMemoryBound(to: UInt8.self), SecretCell.count)
        }
        guard done == 1 else {
            ERR_clear_error()
            return nil
        }
        return derived
    }

    /// PBKDF2 (RFC 8018) with SHA-256, then with SHA-1 over its result: the key over the class keys of a backup.
    static func backupKey(password: [UInt8], parameters: BackupKeyDerivation) -> SecretCell {
        let first = SecretCell()
        let second = SecretCell()
        let isFirstDone = unsafe password.withUnsafeBytes { bytes in
            unsafe PKCS5_PBKDF2_HMAC(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? UnsafePointer(emptyPasscode),
                Int32(bytes.count), parameters.outerSalt, Int32(parameters.outerSalt.count),
                Int32(parameters.counts.outer), EVP_sha256(), Int32(SecretCell.count),
                first.base.assumingMemoryBound(to: UInt8.self))
        }
        let isSecondDone = unsafe PKCS5_PBKDF2_HMAC(
            first.base.assumingMemoryBound(to: CChar.self), Int32(SecretCell.count), parameters.innerSalt,
            Int32(parameters.innerSalt.count), Int32(parameters.counts.inner), EVP_sha1(), Int32(SecretCell.count),
            second.base.assumingMemoryBound(to: UInt8.self))
        precondition(isFirstDone == 1 && isSecondDone == 1, "PBKDF2 failed")
        return second
    }

    private static func hmac(
        _ key: borrowing SecretCell, over bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawPointer
    ) {
        var count = 0
        let code = unsafe EVP_Q_mac(
            nil, "HMAC", nil, "SHA256", nil, key.base, SecretCell.count,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
            target.assumingMemoryBound(to: UInt8.self), SecretCell.count, &count)
        precondition(unsafe code != nil && count == SecretCell.count, "HMAC failed")
    }

    /// libcrypto takes a null passcode for "none given"; an empty one needs an address.
    nonisolated(unsafe) private static let emptyPasscode = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
}
