// Owners of libcrypto's lists of X.509 certificates and of its memory BIOs.

import COpenSSL

/// An owned list of certificates.
@safe final class Certificates {
    // A STACK_OF(X509); valid from init until it is released or freed.
    @unsafe private(set) var stack: OpaquePointer?

    /// All certificates in PEM text; an empty list if there are none.
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

    /// Removes the first certificate that fulfils a condition. The caller owns it.
    @unsafe func takeFirst(where condition: (OpaquePointer) -> Bool) -> OpaquePointer? {
        for index in 0..<count where unsafe condition(self[index]) {
            return unsafe OpaquePointer(OPENSSL_sk_delete(stack, Int32(index))!)
        }
        return nil
    }

    /// Transfers the list to the caller.
    @unsafe func release() -> OpaquePointer? {
        defer { unsafe stack = nil }
        return unsafe stack
    }

    /// Frees a list and its certificates.
    @unsafe static func free(_ stack: OpaquePointer?) {
        guard let stack = unsafe stack else { return }
        for index in 0..<(unsafe OPENSSL_sk_num(stack)) {
            unsafe X509_free(OpaquePointer(OPENSSL_sk_value(stack, index)))
        }
        unsafe OPENSSL_sk_free(stack)
    }
}

/// An owned memory BIO, from which or to which libcrypto reads or writes PEM and DER.
@safe final class MemoryBIO {
    // Valid from init to deinit.
    @unsafe let bio: OpaquePointer

    /// An empty BIO, to be written to.
    init() {
        unsafe bio = BIO_new(BIO_s_mem())!
    }

    /// A BIO to be read from, with a copy of the bytes.
    convenience init(_ bytes: [UInt8]) {
        self.init()
        var written = 0
        precondition(unsafe BIO_write_ex(bio, bytes, bytes.count, &written) == 1 || bytes.isEmpty)
    }

    deinit {
        unsafe BIO_free(bio)
    }

    /// The bytes that are not read yet; they are read by this.
    var bytes: [UInt8] {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        var count = 0
        while unsafe BIO_read_ex(bio, &piece, piece.count, &count) == 1, count > 0 { all += piece[..<count] }
        return all
    }
}
