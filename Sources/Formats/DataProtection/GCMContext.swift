// AES-256-GCM of libcrypto, through one context that is kept between blocks.

import COpenSSL

/// Runs one computation at a time: `begin`, then `authenticate`, `transform`, and `finish` or `matches`. Not
/// thread-safe.
///
/// The context keeps the schedule of the last key, so that the next block of the same file needs no set-up.
@safe final class GCMContext {
    static let tagLength = 16

    // Valid from init to deinit.
    @unsafe private let context: OpaquePointer
    private var loadedSerial: UInt64 = 0

    /// Fetched once, because OpenSSL 3 walks its providers at every fetch.
    nonisolated(unsafe) private static let cipher: OpaquePointer = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)!

    init() {
        unsafe context = EVP_CIPHER_CTX_new()!
        prepare()
    }

    deinit {
        // Freeing zeroes the key schedule.
        unsafe EVP_CIPHER_CTX_free(context)
    }

    /// Has libcrypto zero the key schedule and the remains of the last block.
    func wipe() {
        unsafe EVP_CIPHER_CTX_reset(context)
        prepare()
        loadedSerial = 0
    }

    /// Selects the algorithm, without key or nonce.
    private func prepare() {
        let ready = unsafe EVP_CipherInit_ex2(context, GCMContext.cipher, nil, nil, 1, nil)
        precondition(ready == 1, "AES-256-GCM is missing from libcrypto")
    }

    // Each pointer below is read or written during the call only.

    /// - Parameter nonce: 12 bytes.
    @inline(__always)
    @unsafe func begin(key: FileKey, nonce: UnsafeRawPointer, encrypting: Bool) {
        let secret = unsafe key.serial == loadedSerial ? nil : key.secret.base.assumingMemoryBound(to: UInt8.self)
        let nonce = unsafe nonce.assumingMemoryBound(to: UInt8.self)
        let ready = unsafe EVP_CipherInit_ex2(context, nil, secret, nonce, encrypting ? 1 : 0, nil)
        precondition(ready == 1, "AES-GCM failed")
        loadedSerial = key.serial
    }

    @inline(__always)
    @unsafe func authenticate(_ bytes: UnsafeRawPointer, count: Int) {
        guard count > 0 else { return }
        var ignored: Int32 = 0
        let bytes = unsafe bytes.assumingMemoryBound(to: UInt8.self)
        let done = unsafe EVP_CipherUpdate(context, nil, &ignored, bytes, Int32(count))
        precondition(done == 1, "AES-GCM failed")
    }

    /// Encrypts or decrypts. Source and target must be the same range, or not overlap.
    @inline(__always)
    @unsafe func transform(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int) {
        guard count > 0 else { return }
        var written: Int32 = 0
        let done = unsafe EVP_CipherUpdate(
            context, target.assumingMemoryBound(to: UInt8.self), &written,
            source.assumingMemoryBound(to: UInt8.self), Int32(count))
        precondition(done == 1 && written == Int32(count), "AES-GCM failed")
    }

    /// Ends an encryption and stores its tag.
    @inline(__always)
    @unsafe func finish(tagTo tag: UnsafeMutableRawPointer) {
        var written: Int32 = 0
        // GCM has no padding, so no byte is written here.
        let done =
            unsafe EVP_CipherFinal_ex(context, tag.assumingMemoryBound(to: UInt8.self), &written) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(GCMContext.tagLength), tag) == 1
        precondition(done, "AES-GCM failed")
    }

    /// Ends a decryption.
    /// - Returns: whether the tag matches.
    @inline(__always)
    @unsafe func matches(tag: UnsafeMutableRawPointer) -> Bool {
        var written: Int32 = 0
        let set = unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(GCMContext.tagLength), tag)
        precondition(set == 1, "AES-GCM failed")
        return unsafe EVP_CipherFinal_ex(context, tag.assumingMemoryBound(to: UInt8.self), &written) == 1
    }
}
