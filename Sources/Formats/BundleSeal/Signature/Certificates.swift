// Lists of X.509 certificates, and memory that libcrypto reads and writes as a file.

import COpenSSL

/// An owned list of certificates.
@safe final class Certificates {
    // A STACK_OF(X509); valid from init until it is released or freed.
    @unsafe private(set) var stack: OpaquePointer?

    /// All certificates in PEM text; none where there are none.
    init(pem: [UInt8]) {
        unsafe stack = OPENSSL_sk_new_null()
        let input = MemoryBIO(pem)
        defer { extendLifetime(input) }
        while let certificate = unsafe PEM_read_bio_X509(input.bio, nil, nil, nil) {
            unsafe OPENSSL_sk_push(stack, UnsafeRawPointer(certificate))
        }
        // The end of the text is an error to libcrypto.
        ERR_clear_error()
    }

    deinit {
        unsafe Certificates.free(stack)
    }

    var count: Int { Int(unsafe OPENSSL_sk_num(stack)) }

    @unsafe subscript(index: Int) -> OpaquePointer {
        unsafe OpaquePointer(OPENSSL_sk_value(stack, Int32(index))!)
    }

    /// Takes the first certificate out that fulfils a condition; the caller owns it.
    @unsafe func takeFirst(where condition: (OpaquePointer) -> Bool) -> OpaquePointer? {
        for index in 0..<count where unsafe condition(self[index]) {
            return unsafe OpaquePointer(OPENSSL_sk_delete(stack, Int32(index))!)
        }
        return nil
    }

    /// Gives the list away.
    @unsafe func release() -> OpaquePointer? {
        defer { unsafe stack = nil }
        return unsafe stack
    }

    @unsafe static func free(_ stack: OpaquePointer?) {
        guard let stack = unsafe stack else { return }
        for index in 0..<(unsafe OPENSSL_sk_num(stack)) {
            unsafe X509_free(OpaquePointer(OPENSSL_sk_value(stack, index)))
        }
        unsafe OPENSSL_sk_free(stack)
    }
}

/// A BIO over memory of its own.
@safe final class MemoryBIO {
    // Valid from init to deinit.
    @unsafe let bio: OpaquePointer

    /// One that is written to.
    init() {
        unsafe bio = BIO_new(BIO_s_mem())!
    }

    /// One that is read: it holds a copy of the bytes.
    convenience init(_ bytes: [UInt8]) {
        self.init()
        var written = 0
        precondition(unsafe BIO_write_ex(bio, bytes, bytes.count, &written) == 1 || bytes.isEmpty)
    }

    deinit {
        unsafe BIO_free(bio)
    }

    /// What is left to be read.
    var bytes: [UInt8] {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        var count = 0
        while unsafe BIO_read_ex(bio, &piece, piece.count, &count) == 1, count > 0 { all += piece[..<count] }
        return all
    }
}
