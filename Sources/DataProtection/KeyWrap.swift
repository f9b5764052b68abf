// AES key wrap (RFC 3394) of one 256-bit key under another.

import COpenSSL

/// A wrapping key with its schedules set, so that wrapping costs two dozen AES blocks and no set-up.
///
/// Not safe for two threads at once: whoever owns it has the lock. The schedules lie in libcrypto's own memory,
/// which cleanses them when the contexts are freed.
@safe final class KeyWrap: @unchecked Sendable {
    static let wrappedLength = SecretCell.count + 8

    // Both valid from init to deinit.
    @unsafe private let encryption: OpaquePointer
    @unsafe private let decryption: OpaquePointer

    /// Fetched once: OpenSSL 3 walks its providers at every fetch, which costs more than the wrapping.
    nonisolated(unsafe) private static let cipher: OpaquePointer = unsafe EVP_CIPHER_fetch(nil, "AES-256-WRAP", nil)!

    init(under key: borrowing SecretCell) {
        unsafe encryption = EVP_CIPHER_CTX_new()!
        unsafe decryption = EVP_CIPHER_CTX_new()!
        // libcrypto refuses the wrap mode unless it is told that it is meant.
        unsafe EVP_CIPHER_CTX_set_flags(encryption, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        unsafe EVP_CIPHER_CTX_set_flags(decryption, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        let bytes = unsafe key.base.assumingMemoryBound(to: UInt8.self)
        // Without an initial value libcrypto takes the RFC's own, A6A6A6A6A6A6A6A6.
        let ready =
            unsafe EVP_EncryptInit_ex2(encryption, KeyWrap.cipher, bytes, nil, nil) == 1
            && EVP_DecryptInit_ex2(decryption, KeyWrap.cipher, bytes, nil, nil) == 1
        precondition(ready, "AES key wrap is missing from libcrypto")
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(encryption)
        unsafe EVP_CIPHER_CTX_free(decryption)
    }

    /// - Returns: `prefix` followed by the 40 wrapped bytes.
    func wrap(_ key: borrowing SecretCell, after prefix: [UInt8] = []) -> [UInt8] {
        let start = prefix.count
        let source = unsafe UnsafePointer(key.base.assumingMemoryBound(to: UInt8.self))
        var blob = prefix
        blob.append(contentsOf: repeatElement(0, count: KeyWrap.wrappedLength))
        unsafe blob.withUnsafeMutableBufferPointer { target in
            var written: Int32 = 0
            let done = unsafe EVP_EncryptUpdate(
                encryption, target.baseAddress! + start, &written, source, Int32(SecretCell.count))
            precondition(done == 1 && written == Int32(KeyWrap.wrappedLength), "AES key wrap failed")
        }
        return blob
    }

    /// - Returns: nil when the bytes were not wrapped under this key, or were changed since.
    func unwrap(_ wrapped: some Collection<UInt8>) -> SecretCell? {
        guard wrapped.count == KeyWrap.wrappedLength else { return nil }
        let secret = SecretCell()
        let target = unsafe secret.base.assumingMemoryBound(to: UInt8.self)
        let opened = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: KeyWrap.wrappedLength) { source in
            _ = unsafe source.initialize(from: wrapped)
            var written: Int32 = 0
            let done = unsafe EVP_DecryptUpdate(
                decryption, target, &written, source.baseAddress!, Int32(KeyWrap.wrappedLength))
            return done == 1 && written == Int32(SecretCell.count)
        }
        guard opened else {
            // What went wrong is said by the nil; left in the thread's queue it would be found by somebody else.
            ERR_clear_error()
            return nil
        }
        return secret
    }
}
