// Detached signatures in the Cryptographic Message Syntax (RFC 5652), by libcrypto.

import COpenSSL
import HashFunctions

/// A detached CMS signature over a code directory.
enum CMSSignature {
    /// The limit of a signature in bytes, far above a chain of certificates with a time stamp.
    static let largest = 1 << 20

    /// Signs content.
    /// - Returns: the SignedData in DER, with the signer's certificates.
    /// - Throws: ``SealFault`` if libcrypto cannot sign with the key.
    static func sign(_ content: [UInt8], by identity: SigningIdentity) throws(SealFault) -> [UInt8] {
        defer { ERR_clear_error() }
        let flags = UInt32(CMS_DETACHED | CMS_BINARY | CMS_NOSMIMECAP)
        let input = MemoryBIO(content)
        defer { extendLifetime(input) }
        guard let message = unsafe CMS_sign(identity.certificate, identity.key, identity.chain, input.bio, flags)
        else { throw SealFault("its key cannot sign") }
        defer { unsafe CMS_ContentInfo_free(message) }
        let output = MemoryBIO()
        guard unsafe i2d_CMS_bio(output.bio, message) == 1 else { throw SealFault("its signature cannot be written") }
        return output.bytes
    }

    /// Reasons for which a signature is not accepted.
    enum Fault: Error, Hashable {
        /// It is no signature over the content; the flaw is for people.
        case invalid(SealFault)
        /// It holds, and its signer is not among those that are trusted.
        case untrusted

        static func invalid(_ reason: String) -> Fault { .invalid(SealFault(reason)) }

        /// The difference from a valid seal.
        var kind: SealBreak.Kind { if case .untrusted = self { .untrusted } else { .signature } }
    }

    /// The statements of a valid signature.
    struct Verified: Equatable {
        /// The common name of the signer's certificate, for people.
        var signer: String
        /// SHA-256 of the certificate's SubjectPublicKeyInfo.
        var key: [UInt8]
        /// The certificate in DER.
        var certificate: [UInt8]
        /// Whether the signer's certificate has expired or is not valid yet, at the time of the verification.
        var isOutsideValidity = false
        /// The value of Apple's signed attribute with the hashes of all code directories: a property list.
        var codeDirectoryHashes: [UInt8]?
    }

    /// Verifies a signature over content.
    ///
    /// - Parameter trust: certificates, one of which has to be the signer's or of its chain; nil to accept any signer.
    ///   Certificates outside their validity are reported, not refused.
    /// - Throws: ``Fault``.
    static func verify(_ der: [UInt8], over content: [UInt8], trust: TrustedCertificates?) throws(Fault) -> Verified {
        defer { ERR_clear_error() }
        guard der.count <= largest else { throw .invalid("it is larger than any signature") }
        let encoded = MemoryBIO(der)
        defer { extendLifetime(encoded) }
        guard let message = unsafe d2i_CMS_bio(encoded.bio, nil) else { throw .invalid("it is not a CMS signature") }
        defer { unsafe CMS_ContentInfo_free(message) }
        guard unsafe OBJ_obj2nid(CMS_get0_type(message)) == NID_pkcs7_signed, unsafe CMS_is_detached(message) == 1
        else {
            throw .invalid("it is not a detached CMS signature")
        }
        let input = MemoryBIO(content)
        defer { extendLifetime(input) }
        let flags = UInt32(CMS_BINARY | CMS_NO_SIGNER_CERT_VERIFY)
        guard unsafe CMS_verify(message, nil, nil, input.bio, nil, flags) == 1 else {
            throw .invalid("it does not hold for the code directory")
        }
        // CMS_verify has found every signer's certificate. codesign never makes more than one signer.
        guard let signers = unsafe CMS_get0_signers(message) else { throw .invalid("nobody has signed it") }
        defer { unsafe OPENSSL_sk_free(signers) }
        guard unsafe OPENSSL_sk_num(signers) == 1, let first = unsafe OPENSSL_sk_value(signers, 0) else {
            throw .invalid("it has more than one signer")
        }
        let signer = OpaquePointer(first)
        var verified = unsafe Verified(
            signer: commonName(of: signer), key: keyHash(of: signer), certificate: encoding(of: signer))
        let hasEnded = unsafe X509_cmp_current_time(X509_get0_notAfter(signer)) < 0
        let hasBegun = unsafe X509_cmp_current_time(X509_get0_notBefore(signer)) < 0
        verified.isOutsideValidity = hasEnded || !hasBegun
        if let trust {
            let given = unsafe CMS_get1_certs(message)
            defer { unsafe Certificates.free(given) }
            guard unsafe trust.trusts(signer, chain: given) else { throw .untrusted }
        }
        verified.codeDirectoryHashes = unsafe attribute("1.2.840.113635.100.9.1", of: message)
        return verified
    }

    /// The content of a message that carries what it signs. Any signer is accepted.
    /// - Throws: ``SealFault`` for a message that does not hold.
    static func content(of der: [UInt8]) throws(SealFault) -> [UInt8] {
        defer { ERR_clear_error() }
        guard der.count <= largest else { throw SealFault("it is larger than any message") }
        let encoded = MemoryBIO(der)
        defer { extendLifetime(encoded) }
        guard let message = unsafe d2i_CMS_bio(encoded.bio, nil) else { throw SealFault("it is not a CMS message") }
        defer { unsafe CMS_ContentInfo_free(message) }
        guard unsafe OBJ_obj2nid(CMS_get0_type(message)) == NID_pkcs7_signed, unsafe CMS_is_detached(message) == 0
        else {
            throw SealFault("it is not a signed CMS message with its content")
        }
        let output = MemoryBIO()
        let flags = UInt32(CMS_BINARY | CMS_NO_SIGNER_CERT_VERIFY)
        guard unsafe CMS_verify(message, nil, nil, nil, output.bio, flags) == 1 else {
            throw SealFault("its signature does not hold for its content")
        }
        return output.bytes
    }

    /// The subject's common name.
    private static func commonName(of certificate: OpaquePointer) -> String {
        var text = [UInt8](repeating: 0, count: 256)
        let length = unsafe text.withUnsafeMutableBytes { bytes in
            unsafe X509_NAME_get_text_by_NID(
                X509_get_subject_name(certificate), NID_commonName,
                bytes.baseAddress!.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
        }
        return length > 0 ? String(decoding: text[..<Int(length)], as: UTF8.self) : "somebody without a name"
    }

    /// SHA-256 of the SubjectPublicKeyInfo.
    private static func keyHash(of certificate: OpaquePointer) -> [UInt8] {
        let output = MemoryBIO()
        let done = unsafe i2d_PUBKEY_bio(output.bio, X509_get0_pubkey(certificate))
        precondition(done == 1, "the public key could not be written")
        return HashFunction.sha256.digest(of: output.bytes)
    }

    private static func encoding(of certificate: OpaquePointer) -> [UInt8] {
        let output = MemoryBIO()
        let done = unsafe i2d_X509_bio(output.bio, certificate)
        precondition(done == 1, "the certificate could not be written")
        return output.bytes
    }

    /// A signed attribute that is an octet string and occurs once.
    /// - Parameter identifier: the object identifier with dots.
    private static func attribute(_ identifier: String, of message: OpaquePointer) -> [UInt8]? {
        guard let infos = unsafe CMS_get0_SignerInfos(message), let info = unsafe OPENSSL_sk_value(infos, 0),
            let object = unsafe OBJ_txt2obj(identifier, 1)
        else { return nil }
        defer { unsafe ASN1_OBJECT_free(object) }
        guard let data = unsafe CMS_signed_get0_data_by_OBJ(OpaquePointer(info), object, -3, V_ASN1_OCTET_STRING)
        else { return nil }
        // The string belongs to the message, which the caller keeps alive.
        let string = unsafe UnsafePointer<ASN1_OCTET_STRING>(OpaquePointer(data))
        return unsafe [UInt8](
            UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
    }
}

/// Trusted certificates: those of signers, or of authorities that issue them. Any thread may use them.
@safe public final class TrustedCertificates: @unchecked Sendable {
    // An X509_STORE, which has its own lock; valid from init to deinit.
    @unsafe private let store: OpaquePointer

    /// - Parameter pem: certificates in PEM form.
    /// - Throws: ``SealFault`` if there is none.
    public init(pem: [UInt8]) throws(SealFault) {
        let certificates = Certificates(pem: pem)
        defer { extendLifetime(certificates) }
        guard certificates.count > 0 else { throw SealFault("it has no certificate in PEM form") }
        unsafe store = X509_STORE_new()!
        for index in 0..<certificates.count { unsafe X509_STORE_add_cert(store, certificates[index]) }
        ERR_clear_error()
    }

    deinit {
        unsafe X509_STORE_free(store)
    }

    /// Whether a certificate is trusted, or chains up to a trusted one through certificates of the signature.
    @unsafe fileprivate func trusts(_ certificate: OpaquePointer, chain others: OpaquePointer?) -> Bool {
        let context = unsafe X509_STORE_CTX_new()!
        defer { unsafe X509_STORE_CTX_free(context) }
        guard unsafe X509_STORE_CTX_init(context, store, certificate, others) == 1 else { return false }
        // PARTIAL_CHAIN: a trusted certificate need not be a root. IGNORE_CRITICAL: Apple's certificates have critical
        // extensions that only Apple defines.
        unsafe X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_IGNORE_CRITICAL))
        unsafe X509_STORE_CTX_set_verify_cb(context) { isGood, context in
            if isGood == 1 { return 1 }
            switch unsafe X509_STORE_CTX_get_error(context) {
            case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: return 1
            default: return 0
            }
        }
        return unsafe X509_verify_cert(context) == 1
    }
}
