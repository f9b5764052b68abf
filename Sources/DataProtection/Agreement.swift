// One-pass Diffie-Hellman on Curve25519 (RFC 7748), by which class B wraps keys with only a public key at hand.

import COpenSSL

/// The key agreement of class B.
enum Agreement {
    static let publicKeyLength = 32

    /// The public half of a private key.
    static func publicKey(of privateKey: borrowing SecretCell) -> [UInt8] {
        let key = unsafe makePrivate(privateKey)
        defer { unsafe EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: publicKeyLength)
        var count = publicKeyLength
        let done = unsafe EVP_PKEY_get_raw_public_key(key, &bytes, &count)
        precondition(done == 1 && count == publicKeyLength, "X25519 failed")
        return bytes
    }

    /// X25519 of a private and a public key.
    /// - Returns: nil for a public key of small order, which would make the secret known to everybody.
    static func sharedSecret(_ privateKey: borrowing SecretCell, _ publicKey: [UInt8]) -> SecretCell? {
        guard publicKey.count == publicKeyLength else { return nil }
        let own = unsafe makePrivate(privateKey)
        defer { unsafe EVP_PKEY_free(own) }
        let peer = unsafe EVP_PKEY_new_raw_public_key_ex(nil, "X25519", nil, publicKey, publicKeyLength)
        guard let peer = unsafe peer else { return nil }
        defer { unsafe EVP_PKEY_free(peer) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, own, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        let secret = SecretCell()
        var count = SecretCell.count
        let done =
            unsafe EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer(context, peer) == 1
            && EVP_PKEY_derive(context, secret.base.assumingMemoryBound(to: UInt8.self), &count) == 1
        guard done, count == SecretCell.count else {
            ERR_clear_error()
            return nil
        }
        return secret
    }

    /// The wrapping key of one file: SHA-256(00 00 00 01 ‖ shared ‖ ephemeral public ‖ class public), the
    /// concatenation KDF of NIST SP 800-56A with both public keys as its other information.
    static func wrappingKey(shared: borrowing SecretCell, ephemeral: [UInt8], classPublic: [UInt8]) -> KeyWrap {
        let key = SecretCell()
        var digest = Digest()
        digest.update([0, 0, 0, 1])
        digest.update(shared)
        digest.update(ephemeral)
        digest.update(classPublic)
        digest.finish(into: key)
        return KeyWrap(under: key)
    }

    /// libcrypto holds its copy for the time of one agreement only and cleanses it when it is freed.
    private static func makePrivate(_ secret: borrowing SecretCell) -> OpaquePointer {
        let bytes = unsafe secret.base.assumingMemoryBound(to: UInt8.self)
        return unsafe EVP_PKEY_new_raw_private_key_ex(nil, "X25519", nil, bytes, SecretCell.count)!
    }
}
