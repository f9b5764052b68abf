// AES key wrap (RFC 3394) of one 256-bit key under another.

import COpenSSL

/// A wrapping key with its schedules, so that wrapping costs two dozen AES blocks and no set-up.
///
/// The six rounds over four halves are written out here, on libcrypto's AES. libcrypto's own wrap mode uses AES in
/// tables, which is four times slower than the processor's instructions, and not of constant time.
///
/// Not thread-safe: the owner has a lock. The schedules are in libcrypto's memory, which it zeroes when it frees them.
@safe final class KeyWrap: @unchecked Sendable {
    static let wrappedLength = SecretCell.count + 8

    private static let initialValue: UInt64 = 0xA6A6_A6A6_A6A6_A6A6
    private static let halves = SecretCell.count / 8
    private static let rounds = 6

    // Both valid from init to deinit.
    @unsafe private let encryption: OpaquePointer
    @unsafe private let decryption: OpaquePointer

    /// The AES block of the present step. Secret: it contains a part of a key.
    private let block = SecretCell()

    /// Fetched once, because OpenSSL 3 walks its providers at every fetch, which costs more than the wrapping.
    nonisolated(unsafe) private static let cipher: OpaquePointer = unsafe EVP_CIPHER_fetch(nil, "AES-256-ECB", nil)!

    init(under key: borrowing SecretCell) {
        unsafe encryption = EVP_CIPHER_CTX_new()!
        unsafe decryption = EVP_CIPHER_CTX_new()!
        let bytes = unsafe key.base.assumingMemoryBound(to: UInt8.self)
        let ready =
            unsafe EVP_EncryptInit_ex2(encryption, KeyWrap.cipher, bytes, nil, nil) == 1
            && EVP_DecryptInit_ex2(decryption, KeyWrap.cipher, bytes, nil, nil) == 1
            && EVP_CIPHER_CTX_set_padding(encryption, 0) == 1 && EVP_CIPHER_CTX_set_padding(decryption, 0) == 1
        precondition(ready, "AES-256 is missing from libcrypto")
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(encryption)
        unsafe EVP_CIPHER_CTX_free(decryption)
    }

    /// - Returns: `prefix` followed by the 40 wrapped bytes.
    func wrap(_ key: borrowing SecretCell, after prefix: [UInt8] = []) -> [UInt8] {
        let registers = SecretCell()
        unsafe registers.base.copyMemory(from: key.base, byteCount: SecretCell.count)
        var check = KeyWrap.initialValue
        for step in 0..<KeyWrap.rounds * KeyWrap.halves {
            let half = step % KeyWrap.halves * 8
            unsafe block.base.storeBytes(of: check.bigEndian, as: UInt64.self)
            unsafe (block.base + 8).copyMemory(from: registers.base + half, byteCount: 8)
            unsafe transform(encryption)
            check = unsafe UInt64(bigEndian: block.base.load(as: UInt64.self)) ^ UInt64(step + 1)
            unsafe (registers.base + half).copyMemory(from: block.base + 8, byteCount: 8)
        }
        var blob = [UInt8]()
        blob.reserveCapacity(prefix.count + KeyWrap.wrappedLength)
        blob += prefix
        unsafe withUnsafeBytes(of: check.bigEndian) { unsafe blob.append(contentsOf: $0) }
        unsafe blob.append(contentsOf: UnsafeRawBufferPointer(start: registers.base, count: SecretCell.count))
        return blob
    }

    /// - Returns: nil unless the bytes were wrapped under this key and are unchanged.
    func unwrap(_ wrapped: some Collection<UInt8>) -> SecretCell? {
        guard wrapped.count == KeyWrap.wrappedLength else { return nil }
        let registers = SecretCell()
        var check = wrapped.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        unsafe UnsafeMutableRawBufferPointer(start: registers.base, count: SecretCell.count)
            .copyBytes(from: wrapped.dropFirst(8))
        for step in (0..<KeyWrap.rounds * KeyWrap.halves).reversed() {
            let half = step % KeyWrap.halves * 8
            unsafe block.base.storeBytes(of: (check ^ UInt64(step + 1)).bigEndian, as: UInt64.self)
            unsafe (block.base + 8).copyMemory(from: registers.base + half, byteCount: 8)
            unsafe transform(decryption)
            check = unsafe UInt64(bigEndian: block.base.load(as: UInt64.self))
            unsafe (registers.base + half).copyMemory(from: block.base + 8, byteCount: 8)
        }
        block.zero()
        guard check == KeyWrap.initialValue else { return nil }
        return registers
    }

    /// Transforms the block in place.
    @inline(__always)
    private func transform(_ context: OpaquePointer) {
        let bytes = unsafe block.base.assumingMemoryBound(to: UInt8.self)
        let done = unsafe EVP_Cipher(context, bytes, bytes, 16)
        precondition(done > 0, "AES failed")
    }
}
