// The key agreement of class B: one-pass Diffie-Hellman on Curve25519 (RFC 7748), which wraps keys by a public key.

import COpenSSL
import HashFunctions

/// Diffie-Hellman and key derivation of class B.
enum Agreement {
    static let publicKeyLength = 32

    /// A private key and its public half.
    ///
    /// libcrypto's copy of the private key is outside locked memory, so a pair lives for one agreement only. Freeing it
    /// zeroes the copy.
    @safe struct Pair: ~Copyable {
        // Valid from init to deinit.
        @unsafe private let key: OpaquePointer
        let publicKey: [UInt8]

        init(_ secret: borrowing SecretCell) {
            let bytes = unsafe secret.base.assumingMemoryBound(to: UInt8.self)
            unsafe key = EVP_PKEY_new_raw_private_key_ex(nil, "X25519", nil, bytes, SecretCell.count)!
            var publicKey = [UInt8](repeating: 0, count: publicKeyLength)
            var count = publicKeyLength
            let done = unsafe EVP_PKEY_get_raw_public_key(key, &publicKey, &count)
            precondition(done == 1 && count == publicKeyLength, "X25519 failed")
            self.publicKey = publicKey
        }

        deinit {
            unsafe EVP_PKEY_free(key)
        }

        /// - Returns: nil for a public key of small order, for which everybody knows the secret.
        func sharedSecret(with publicKey: [UInt8]) -> SecretCell? {
            let peer = unsafe EVP_PKEY_new_raw_public_key_ex(nil, "X25519", nil, publicKey, publicKey.count)
            guard let peer = unsafe peer else { return Pair.failed() }
            defer { unsafe EVP_PKEY_free(peer) }
            guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return Pair.failed() }
            defer { unsafe EVP_PKEY_CTX_free(context) }
            let secret = SecretCell()
            var count = SecretCell.count
            let done =
                unsafe EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer(context, peer) == 1
                && EVP_PKEY_derive(context, secret.base.assumingMemoryBound(to: UInt8.self), &count) == 1
            guard done, count == SecretCell.count else { return Pair.failed() }
            return secret
        }

        /// Clears libcrypto's error queue of the thread, so that a later call does not find this error.
        private static func failed() -> SecretCell? {
            ERR_clear_error()
            return nil
        }
    }

    /// The wrapping key of one file: SHA-256(00 00 00 01 ‖ shared ‖ ephemeral public ‖ class public), the
    /// concatenation KDF of NIST SP 800-56A with both public keys as its other information.
    static func wrappingKey(shared: borrowing SecretCell, ephemeral: [UInt8], classPublic: [UInt8]) -> KeyWrap {
        let key = SecretCell()
        var digest = MessageDigest(.sha256)
        digest.update([0, 0, 0, 1])
        digest.update(shared)
        digest.update(ephemeral)
        digest.update(classPublic)
        digest.finish(into: key)
        return KeyWrap(under: key)
    }
}
