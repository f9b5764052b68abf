// Signing identities: a private key with its certificate, in PEM form, by libcrypto.

import COpenSSL
import HashFunctions

/// A private key and its X.509 certificate, with which bundles are signed. Any thread may use it.
@safe public final class SigningIdentity: @unchecked Sendable {
    // Never changed after init, and libcrypto counts its own references; valid from init to deinit.
    @unsafe let key: OpaquePointer
    @unsafe let certificate: OpaquePointer
    /// Intermediate certificates from the signer's own up to an authority's.
    @unsafe let chain: OpaquePointer?

    @unsafe private init(key: OpaquePointer, certificate: OpaquePointer, chain: OpaquePointer?) {
        unsafe self.key = key
        unsafe self.certificate = certificate
        unsafe self.chain = chain
    }

    deinit {
        unsafe EVP_PKEY_free(key)
        unsafe X509_free(certificate)
        unsafe Certificates.free(chain)
    }

    // MARK: New identities

    /// Seconds from now: one day ago to ten years ahead, so that a test with a stored identity does not fail one day.
    public static let usualValidity: ClosedRange<Int> = -86_400...(3650 * 86_400)

    /// Makes a P-256 key and a self-signed certificate for code signing.
    ///
    /// - Parameters:
    ///   - commonName: the certificate's subject, cut to the 64 characters that X.520 allows.
    ///   - validity: seconds from now.
    public convenience init(commonName: String, validity: ClosedRange<Int> = usualValidity) {
        let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil)!
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        let made =
            unsafe EVP_PKEY_keygen_init(context) == 1 && EVP_PKEY_CTX_set_group_name(context, "P-256") == 1
            && EVP_PKEY_generate(context, &key) == 1
        precondition(made, "libcrypto makes no keys on P-256")
        let certificate = unsafe X509_new()!
        unsafe SigningIdentity.fill(certificate, key!, commonName, validity)
        unsafe self.init(key: key!, certificate: certificate, chain: nil)
    }

    /// Sets the fields and extensions of a new certificate, and signs it with its own key.
    private static func fill(
        _ certificate: OpaquePointer, _ key: OpaquePointer, _ commonName: String, _ validity: ClosedRange<Int>
    ) {
        unsafe X509_set_version(certificate, Int(X509_VERSION_3))
        // 159 random bits, so that the serial number is positive and tells identities of one name apart.
        let serial = unsafe BN_new()!
        defer { unsafe BN_free(serial) }
        unsafe BN_rand(serial, 159, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY)
        unsafe BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate))
        unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), validity.lowerBound)
        unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), validity.upperBound)
        let name = unsafe X509_get_subject_name(certificate)
        let text = Array(commonName.prefix(64).utf8)
        unsafe X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, Int32(text.count), -1, 0)
        unsafe X509_set_issuer_name(certificate, name)
        unsafe X509_set_pubkey(certificate, key)
        // S/MIME beside code signing: `openssl cms -verify` requires it by default.
        for (extensionNumber, value) in [
            (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "codeSigning,emailProtection"), (NID_subject_key_identifier, "hash"),
        ] {
            var context = unsafe X509V3_CTX()
            unsafe X509V3_set_ctx(&context, certificate, certificate, nil, nil, 0)
            let item = unsafe X509V3_EXT_conf_nid(nil, &context, extensionNumber, value)
            unsafe X509_add_ext(certificate, item, -1)
            unsafe X509_EXTENSION_free(item)
        }
        let size = unsafe X509_sign(certificate, key, EVP_sha256())
        precondition(size > 0, "the certificate could not be signed")
    }

    // MARK: PEM

    /// Reads a private key and its certificate, and further certificates, in any order.
    /// - Throws: ``SealFault`` with the part that is missing or does not match.
    public convenience init(pem: [UInt8]) throws(SealFault) {
        let input = MemoryBIO(pem)
        defer { extendLifetime(input) }
        defer { ERR_clear_error() }
        // No prompt for a passphrase: a test has no terminal.
        guard let key = unsafe PEM_read_bio_PrivateKey(input.bio, nil, { _, _, _, _ in -1 }, nil) else {
            throw SealFault("it has no private key that can be read without a passphrase")
        }
        let certificates = Certificates(pem: pem)
        guard let certificate = unsafe certificates.takeFirst(where: { unsafe X509_check_private_key($0, key) == 1 })
        else {
            unsafe EVP_PKEY_free(key)
            throw SealFault("it has no certificate of its private key")
        }
        guard unsafe SigningIdentity.isConsistent(key) else {
            unsafe EVP_PKEY_free(key)
            unsafe X509_free(certificate)
            throw SealFault("its private key is damaged")
        }
        unsafe self.init(key: key, certificate: certificate, chain: certificates.release())
    }

    /// Whether the private key matches its public key: X509_check_private_key compares only public keys.
    private static func isConsistent(_ key: OpaquePointer) -> Bool {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return unsafe EVP_PKEY_pairwise_check(context) == 1
    }

    /// The private key (PKCS #8) and the certificates, for a file that only its owner may read.
    public var pem: [UInt8] {
        let output = MemoryBIO()
        let done = unsafe PEM_write_bio_PrivateKey(output.bio, key, nil, nil, 0, nil, nil)
        precondition(done == 1, "the private key could not be written")
        return output.bytes + certificatePEM
    }

    /// The signer's certificate alone, to be given to those who trust it.
    public var certificatePEM: [UInt8] {
        let output = MemoryBIO()
        let done = unsafe PEM_write_bio_X509(output.bio, certificate)
        precondition(done == 1, "the certificate could not be written")
        return output.bytes
    }

    /// SHA-1 of the certificate, by which requirements name it (Apple, Code Signing Requirement Language).
    public var certificateHash: [UInt8] {
        var digest = [UInt8](repeating: 0, count: HashFunction.sha1.length)
        var length: UInt32 = 0
        unsafe X509_digest(certificate, EVP_sha1(), &digest, &length)
        return digest
    }
}
