// Digests of data that comes in pieces, by libcrypto.

import COpenSSL
public import Platform

/// A digest under computation. After init it allocates nothing but the digests that ``finish()`` returns.
@safe public struct MessageDigest: ~Copyable {
    public let function: HashFunction
    // Valid from init to deinit. EVP_MD_CTX_free cleanses the state.
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

    /// Hashes further bytes.
    public mutating func update(_ bytes: [UInt8]) {
        let done = unsafe EVP_DigestUpdate(context, bytes, bytes.count)
        precondition(done == 1)
    }

    public mutating func update(_ bytes: borrowing RawSpan) {
        // The span is valid for the call.
        let done = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(done == 1)
    }

    /// Hashes a part of a buffer.
    public mutating func update(_ buffer: PageBuffer, at offset: Int, count: Int) {
        buffer.withBytes(offset, count: count) { bytes in
            let done = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
            precondition(done == 1)
        }
    }

    private static let zeros = PageBuffer(count: 64 << 10)

    /// Hashes so many zeros: a hole of a file.
    public mutating func update(zeros count: Int64) {
        var left = count
        while left > 0 {
            let piece = Int(min(left, Int64(MessageDigest.zeros.count)))
            update(MessageDigest.zeros, at: 0, count: piece)
            left -= Int64(piece)
        }
    }

    /// The digest of the bytes since init or the last digest. A new computation begins.
    public mutating func finish() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: function.length)
        unsafe bytes.withUnsafeMutableBytes { unsafe finish(into: $0) }
        return bytes
    }

    /// The digest of the bytes up to now, of a computation that goes on.
    public func digestSoFar() -> [UInt8] {
        var copy = MessageDigest(function)
        precondition(unsafe EVP_MD_CTX_copy_ex(copy.context, context) == 1)
        return copy.finish()
    }

    /// As ``finish()``, into a buffer.
    public mutating func finish(into buffer: PageBuffer, at offset: Int) {
        precondition(offset >= 0 && offset <= buffer.count - function.length, "outside the buffer")
        // The range lies within the buffer, which the caller keeps alive.
        unsafe finish(into: UnsafeMutableRawBufferPointer(start: buffer.base + offset, count: function.length))
    }

    /// As ``finish()``, into memory that the caller owns, such as that of a key.
    /// - Parameter bytes: exactly as long as the digest.
    public mutating func finish(into bytes: UnsafeMutableRawBufferPointer) {
        precondition(bytes.count == function.length, "a digest has its own length")
        let target = unsafe bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
        let done = unsafe EVP_DigestFinal_ex(context, target, nil) == 1 && EVP_DigestInit_ex2(context, nil, nil) == 1
        precondition(done)
    }
}
