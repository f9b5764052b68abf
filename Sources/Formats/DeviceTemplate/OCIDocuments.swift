// The documents of an OCI image layout (OCI Image Format Specification 1.1): index, manifest and their descriptors. The
// module's only file with Foundation.

import FoundationEssentials
import HashFunctions
import Platform
import SandboxModel

/// A reference to a blob, by its digest.
struct OCIDescriptor: Codable, Hashable {
    var mediaType: String
    /// `sha256:` and 64 hexadecimal digits.
    var digest: String
    var size: Int64

    init(_ mediaType: String, of bytes: [UInt8]) {
        self.init(mediaType, digest: HashFunction.sha256.digest(of: bytes), size: Int64(bytes.count))
    }

    init(_ mediaType: String, digest: [UInt8], size: Int64) {
        (self.mediaType, self.digest, self.size) = (mediaType, OCIDigest.text(digest), size)
    }

    /// The digest's bytes; nil for another algorithm, or none.
    var bytes: [UInt8]? { OCIDigest.bytes(digest) }
}

/// Digests as OCI writes them.
public enum OCIDigest {
    private static let prefix = "sha256:"

    public static func text(_ digest: [UInt8]) -> String { prefix + digest.hexadecimal }

    /// - Returns: nil for a text that is no SHA-256 in this form.
    public static func bytes(_ text: String) -> [UInt8]? {
        guard text.hasPrefix(prefix) else { return nil }
        let digits = Array(text.utf8.dropFirst(prefix.utf8.count))
        // The specification has small letters only: one digest, one name.
        guard digits.count == 2 * HashFunction.sha256.length, !digits.contains(where: { $0 & 0x60 == 0x40 }) else {
            return nil
        }
        return [UInt8](hexadecimal: digits[...])
    }
}

enum OCIMediaType {
    static let index = "application/vnd.oci.image.index.v1+json"
    static let manifest = "application/vnd.oci.image.manifest.v1+json"
    /// The specification wants a config of its own type for an artifact that is no container's image.
    static let config = "application/vnd.appcontainer.template.config.v1+json"
    static let layer = "application/vnd.oci.image.layer.v1.tar+zstd"
}

/// `index.json`.
struct OCIIndex: Codable {
    var schemaVersion = 2
    var mediaType: String? = OCIMediaType.index
    var manifests: [OCIDescriptor]
}

/// The manifest of a template.
struct OCIManifest: Codable {
    var schemaVersion = 2
    var mediaType: String? = OCIMediaType.manifest
    var config: OCIDescriptor
    var layers: [OCIDescriptor]
}

/// `oci-layout`.
struct OCILayoutVersion: Codable {
    var imageLayoutVersion = "1.0.0"
}

enum OCIDocument {
    /// The limit in bytes, which registries have too.
    static let longest = 4 << 20

    /// JSON with sorted keys: the same bytes for the same document.
    static func encode(_ document: some Encodable) throws(Complaint) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(document))
        } catch {
            throw Complaint(.unexpected, "cannot write a document of an OCI layout: \(error)")
        }
    }

    /// - Returns: nil for bytes that are no such document.
    static func decode<Document: Decodable>(_ type: Document.Type, from bytes: [UInt8]) -> Document? {
        try? JSONDecoder().decode(type, from: Data(bytes))
    }
}
