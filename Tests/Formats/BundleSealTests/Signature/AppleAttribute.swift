// Signatures with the signed attribute that Apple's tools add.

import COpenSSL

@testable import BundleSeal

extension CMSSignature {
    /// Signs content, with the hashes of code directories in a signed attribute.
    /// - Parameter attribute: a property list.
    static func sign(_ content: [UInt8], by identity: SigningIdentity, attribute: [UInt8]) throws -> [UInt8] {
        let flags = UInt32(CMS_DETACHED | CMS_BINARY | CMS_NOSMIMECAP)
        guard let message = unsafe CMS_sign(nil, nil, nil, nil, flags | UInt32(CMS_PARTIAL)) else {
            throw SealFault("it cannot be begun")
        }
        defer { unsafe CMS_ContentInfo_free(message) }
        let signer = unsafe CMS_add1_signer(message, identity.certificate, identity.key, EVP_sha256(), flags)
        let object = unsafe OBJ_txt2obj("1.2.840.113635.100.9.1", 1)
        defer { unsafe ASN1_OBJECT_free(object) }
        let added = unsafe CMS_signed_add1_attr_by_OBJ(
            signer, object, V_ASN1_OCTET_STRING, attribute, Int32(attribute.count))
        let input = MemoryBIO(content)
        let done = withExtendedLifetime(input) { unsafe CMS_final(message, input.bio, nil, flags) == 1 }
        guard added == 1, done else { throw SealFault("it cannot be signed") }
        let output = MemoryBIO()
        guard unsafe i2d_CMS_bio(output.bio, message) == 1 else { throw SealFault("it cannot be written") }
        return output.bytes
    }
}
