// SHA-256 of what goes through a backup. The only file here that calls libcrypto.

import COpenSSL
import Platform

/// A running SHA-256. Once made, it allocates nothing but the digests that ``finish()`` gives.
@safe struct SHA256: ~Copyable {
    static let length = 32
    /// Of no bytes.
    static let ofNothing: [UInt8] = {
        var digest = SHA256()
        return digest.finish()
    }()

    // Valid from init to deinit.
    @unsafe private let context: OpaquePointer

    init() {
        unsafe context = EVP_MD_CTX_new()!
        let ready = unsafe EVP_DigestInit_ex2(context, EVP_sha256(), nil)
        precondition(ready == 1, "SHA-256 is missing from libcrypto")
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    mutating func update(_ bytes: borrowing RawSpan) {
        let context = unsafe self.context
        // The span is valid for the call.
        let done = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(done == 1)
    }

    mutating func update(_ bytes: [UInt8]) {
        let context = unsafe self.context
        let done = bytes.withSpan { bytes in
            unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        }
        precondition(done == 1)
    }

    mutating func update(_ buffer: PageBuffer, _ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= buffer.count, "outside the buffer")
        // The bytes belong to the buffer, which the caller holds.
        let done = unsafe EVP_DigestUpdate(context, buffer.base + range.lowerBound, range.count)
        precondition(done == 1)
    }

    private static let zeros = PageBuffer(count: 64 << 10)

    /// Takes in a hole.
    mutating func update(zeros count: Int64) {
        var left = count
        while left > 0 {
            let piece = Int(min(left, Int64(SHA256.zeros.count)))
            update(SHA256.zeros, 0..<piece)
            left -= Int64(piece)
        }
    }

    /// The digest of what came since the beginning or the last digest; another computation can follow.
    mutating func finish() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: SHA256.length)
        let done = unsafe EVP_DigestFinal_ex(context, &bytes, nil) == 1 && EVP_DigestInit_ex2(context, nil, nil) == 1
        precondition(done)
        return bytes
    }
}
