// SHA-256 over pieces, some of them secret; and SHA-1, by which a Finder backup names its files.

import COpenSSL
public import Platform

/// A running SHA-256, or SHA-1 where a format asks for it.
@safe public struct Digest: ~Copyable {
    public enum Function: Sendable {
        /// For names only: nothing rests on its strength.
        case sha1
        case sha256

        /// Bytes of a digest.
        public var length: Int {
            switch self {
            case .sha1: 20
            case .sha256: 32
            }
        }
    }

    private let function: Function
    // Valid from init to deinit; freeing it cleanses what it has taken in.
    @unsafe private let context: OpaquePointer

    public init(_ function: Function = .sha256) {
        self.function = function
        unsafe context = EVP_MD_CTX_new()!
        let algorithm =
            switch function {
            case .sha1: unsafe EVP_sha1()
            case .sha256: unsafe EVP_sha256()
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
        let done = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(done == 1)
    }

    public mutating func update(_ buffer: PageBuffer, at offset: Int, count: Int) {
        precondition(offset >= 0 && count >= 0 && offset <= buffer.count - count, "outside the buffer")
        // Within the buffer by the check above, and the buffer lives at least as long as the call.
        let done = unsafe EVP_DigestUpdate(context, buffer.base + offset, count)
        precondition(done == 1)
    }

    mutating func update(_ secret: borrowing SecretCell) {
        let done = unsafe EVP_DigestUpdate(context, secret.base, SecretCell.count)
        precondition(done == 1)
    }

    /// The bytes of the digest, of something that is not secret. Ends the computation.
    public consuming func finish() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: function.length)
        let done = unsafe EVP_DigestFinal_ex(context, &bytes, nil)
        precondition(done == 1)
        return bytes
    }

    /// Puts the 32 bytes of the digest into the cell and ends the computation.
    consuming func finish(into cell: borrowing SecretCell) {
        precondition(function.length == SecretCell.count, "a secret has 32 bytes")
        let done = unsafe EVP_DigestFinal_ex(context, cell.base.assumingMemoryBound(to: UInt8.self), nil)
        precondition(done == 1)
    }
}
