// Keys made from other keys and from passcodes: HKDF, HMAC, scrypt. All of it libcrypto's.

import COpenSSL

/// The functions that make keys. Secrets go from cell to cell; only passcodes come in as plain bytes.
enum Derivation {
    /// HKDF with SHA-256 (RFC 5869), 32 bytes.
    /// - Parameter label: what the key is for; two labels never give related keys.
    static func hkdf(_ secret: borrowing SecretCell, salt: [UInt8], label: [UInt8]) -> SecretCell {
        let key = unsafe UnsafeMutableRawBufferPointer(start: secret.base, count: SecretCell.count)
        return unsafe hkdf(key, salt: salt, label: label)
    }

    /// The same from key material of any length, which is read during the call only.
    static func hkdf(_ key: UnsafeMutableRawBufferPointer, salt: [UInt8], label: [UInt8]) -> SecretCell {
        let derived = SecretCell()
        let context = unsafe EVP_KDF_CTX_new(hkdfAlgorithm)!
        defer { unsafe EVP_KDF_CTX_free(context) }
        var digest: [CChar] = Array("SHA256".utf8CString)
        var salt = salt
        var label = label
        // libcrypto reads through these pointers during EVP_KDF_derive only; each is valid until its closure ends.
        let done = unsafe digest.withUnsafeMutableBufferPointer { digest in
            unsafe salt.withUnsafeMutableBytes { salt in
                unsafe label.withUnsafeMutableBytes { label in
                    let parameters = unsafe [
                        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.baseAddress, 0),
                        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key.baseAddress, key.count),
                        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt.baseAddress, salt.count),
                        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, label.baseAddress, label.count),
                        OSSL_PARAM_construct_end(),
                    ]
                    return unsafe EVP_KDF_derive(
                        context, derived.base.assumingMemoryBound(to: UInt8.self), SecretCell.count, parameters)
                }
            }
        }
        precondition(done == 1, "HKDF failed")
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

    /// HMAC with SHA-256 of one secret under another.
    static func tangle(_ secret: borrowing SecretCell, with key: borrowing SecretCell) -> SecretCell {
        let result = SecretCell()
        unsafe hmac(key, over: UnsafeRawBufferPointer(start: secret.base, count: SecretCell.count), into: result.base)
        return result
    }

    /// scrypt (RFC 7914), 32 bytes.
    static func scrypt(_ passcode: [UInt8], salt: [UInt8], cost: PasscodeCost) -> SecretCell {
        let derived = SecretCell()
        let done = unsafe passcode.withUnsafeBytes { bytes in
            unsafe EVP_PBE_scrypt(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? UnsafePointer(emptyPasscode), bytes.count, salt,
                salt.count, cost.iterations, UInt64(cost.blockSize), UInt64(cost.parallelism), cost.memoryLimit,
                derived.base.assumingMemoryBound(to: UInt8.self), SecretCell.count)
        }
        precondition(done == 1, "scrypt failed: out of memory")
        return derived
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

    nonisolated(unsafe) private static let hkdfAlgorithm: OpaquePointer = unsafe EVP_KDF_fetch(nil, "HKDF", nil)!

    /// libcrypto takes a null passcode for "none given"; an empty one needs an address.
    nonisolated(unsafe) private static let emptyPasscode = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
}
