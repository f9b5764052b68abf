// The cipher of Finder's backups: AES-256-CBC without authentication, with a zero vector and a key for each file.

import COpenSSL
public import Platform

/// Encrypts or decrypts one file's content, in pieces of whole blocks. The caller pads. Not thread-safe.
@safe public final class BackupCipher {
    public static let blockLength = 16

    // Valid from init to deinit. Freeing it zeroes the key schedule.
    @unsafe private let context: OpaquePointer

    init(key: borrowing SecretCell, vector: [UInt8]?, encrypting: Bool) {
        let vector = vector ?? [UInt8](repeating: 0, count: BackupCipher.blockLength)
        precondition(vector.count == BackupCipher.blockLength, "a vector is one block")
        unsafe context = EVP_CIPHER_CTX_new()!
        // Both the key and the vector are copied into the context.
        let ready =
            unsafe EVP_CipherInit_ex2(
                context, EVP_aes_256_cbc(), key.base.assumingMemoryBound(to: UInt8.self), vector, encrypting ? 1 : 0,
                nil) == 1 && EVP_CIPHER_CTX_set_padding(context, 0) == 1
        precondition(ready, "AES-256-CBC is missing from libcrypto")
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(context)
    }

    /// Transforms the next bytes of the file in place.
    /// - Parameter count: in bytes, a multiple of ``blockLength``.
    public func transform(_ buffer: PageBuffer, at offset: Int, count: Int) {
        precondition(offset >= 0 && count >= 0 && offset <= buffer.count - count, "outside the buffer")
        precondition(count % BackupCipher.blockLength == 0, "a piece is of whole blocks")
        // Within the buffer by the check above, and the buffer lives at least as long as the call.
        let bytes = unsafe (buffer.base + offset).assumingMemoryBound(to: UInt8.self)
        var done: Int32 = 0
        let result = unsafe EVP_CipherUpdate(context, bytes, &done, bytes, Int32(count))
        precondition(result == 1 && Int(done) == count, "AES failed")
    }
}
