// Digests of what comes in pieces. libcrypto computes them.

import COpenSSL
public import Platform

/// A running computation. Once made, it allocates nothing but the digests that ``finish()`` gives.
@safe public struct MessageDigest: ~Copyable {
    public let function: HashFunction
    // Valid from init to deinit; freeing it cleanses what it has taken in.
    @unsafe private let context: OpaquePointer

    public init(_ function: HashFunction) {
        self.function = function
        unsafe context = EVP_MD_CTX_new()!
        let algorithm =
            switch function {
            case .sha1: unsafe EVP_sha1()
            case .sha256: unsafe EVP_sha256()
            case .sha384: unsafe EVP_sha384()
            }
        let ready = unsafe EVP_DigestInit_ex2(context, algorithm, nil)
        precondition(ready == 1, "a hash function is missing from libcrypto")
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    public mutating func update(_ bytes: [UInt8]) {
        let done = unsafe EVP_DigestUpdate(context, bytes, bytes.count)
        precondition(done == 1)
    }

    public mutating func update(_ bytes: borrowing RawSpan) {
        // The span is valid for the call.
        let done = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(done == 1)
    }

    public mutating func update(_ buffer: PageBuffer, at offset: Int, count: Int) {
        buffer.withBytes(offset, count: count) { bytes in
            let done = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
            precondition(done == 1)
        }
    }

    private static let zeros = PageBuffer(count: 64 << 10)

    /// Takes in a hole.
    public mutating func update(zeros count: Int64) {
        var left = count
        while left > 0 {
            let piece = Int(min(left, Int64(MessageDigest.zeros.count)))
            update(MessageDigest.zeros, at: 0, count: piece)
            left -= Int64(piece)
        }
    }

    /// The digest of what came since the beginning or the last digest; another computation can follow.
    public mutating func finish() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: function.length)
        unsafe bytes.withUnsafeMutableBytes { unsafe finish(into: $0) }
        return bytes
    }

    /// As ``finish()``, with the digest put into a buffer.
    public mutating func finish(into buffer: PageBuffer, at offset: Int) {
        precondition(offset >= 0 && offset <= buffer.count - function.length, "outside the buffer")
        // The bytes from there on belong to the buffer, which the caller holds.
        unsafe finish(into: UnsafeMutableRawBufferPointer(start: buffer.base + offset, count: function.length))
    }

    /// As ``finish()``, with the digest put into memory that the caller owns, such as the place of a key.
    public mutating func finish(into bytes: UnsafeMutableRawBufferPointer) {
        precondition(bytes.count == function.length, "a digest has its own length")
        let target = unsafe bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
        let done = unsafe EVP_DigestFinal_ex(context, target, nil) == 1 && EVP_DigestInit_ex2(context, nil, nil) == 1
        precondition(done)
    }
}
