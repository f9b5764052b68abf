// The hash functions of seals, over bytes in memory. libcrypto computes them.

import COpenSSL
public import Platform

/// A hash function that code signatures use.
public enum HashFunction: Hashable, Sendable {
    case sha1
    case sha256
    case sha384

    /// Bytes of a digest.
    public var length: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        }
    }

    /// The digest of bytes that are at hand as a whole.
    public func digest(of bytes: some Sequence<UInt8>) -> [UInt8] {
        var digest = MessageDigest(self)
        digest.update(Array(bytes))
        return digest.finish()
    }
}

/// A running computation. Once made, it allocates nothing but the digests that ``finish()`` gives.
@safe public struct MessageDigest: ~Copyable {
    public let function: HashFunction
    // Valid from init to deinit.
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

    /// The digest of what came since the beginning or the last digest; another computation can follow.
    public mutating func finish() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: function.length)
        let done = unsafe EVP_DigestFinal_ex(context, &bytes, nil) == 1 && EVP_DigestInit_ex2(context, nil, nil) == 1
        precondition(done)
        return bytes
    }

    /// As ``finish()``, with the digest put into a buffer.
    public mutating func finish(into buffer: PageBuffer, at offset: Int) {
        precondition(offset >= 0 && offset + function.length <= buffer.count, "outside the buffer")
        // The bytes from there on belong to the buffer, which the caller holds.
        let target = unsafe (buffer.base + offset).assumingMemoryBound(to: UInt8.self)
        let done = unsafe EVP_DigestFinal_ex(context, target, nil) == 1 && EVP_DigestInit_ex2(context, nil, nil) == 1
        precondition(done)
    }
}
