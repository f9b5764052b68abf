// SHA-256 over pieces, some of them secret.

import COpenSSL

/// A running SHA-256.
@safe struct Digest: ~Copyable {
    // Valid from init to deinit; freeing it cleanses what it has taken in.
    @unsafe private let context: OpaquePointer

    init() {
        unsafe context = EVP_MD_CTX_new()!
        let ready = unsafe EVP_DigestInit_ex2(context, EVP_sha256(), nil)
        precondition(ready == 1, "SHA-256 is missing from libcrypto")
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    mutating func update(_ bytes: [UInt8]) {
        let done = unsafe EVP_DigestUpdate(context, bytes, bytes.count)
        precondition(done == 1)
    }

    mutating func update(_ secret: borrowing SecretCell) {
        let done = unsafe EVP_DigestUpdate(context, secret.base, SecretCell.count)
        precondition(done == 1)
    }

    /// The 32 bytes of the digest, of something that is not secret. Ends the computation.
    consuming func finish() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: SecretCell.count)
        let done = unsafe EVP_DigestFinal_ex(context, &bytes, nil)
        precondition(done == 1)
        return bytes
    }

    /// Puts the 32 bytes of the digest into the cell and ends the computation.
    consuming func finish(into cell: borrowing SecretCell) {
        let done = unsafe EVP_DigestFinal_ex(context, cell.base.assumingMemoryBound(to: UInt8.self), nil)
        precondition(done == 1)
    }
}
