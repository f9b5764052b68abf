// Property lists by Foundation's decoder and encoder. Only this file gives the decoder untrusted input.

import FoundationEssentials

/// Decoding and encoding of Codable types as property lists.
public enum PropertyListCoding {
    /// The bytes are no list of the type, or the list cannot be encoded.
    public struct Flaw: Error, Hashable {}

    public enum Format: Sendable {
        case xml
        case binary
    }

    /// Decodes a list in XML or binary form, which is untrusted.
    public static func decode<List: Decodable>(_ type: List.Type, from bytes: [UInt8]) throws(Flaw) -> List {
        guard isSafeToDecode(bytes), let list = try? PropertyListDecoder().decode(type, from: Data(bytes)) else {
            throw Flaw()
        }
        return list
    }

    /// Whether Foundation's decoder can decode a list safely.
    ///
    /// It decodes XML by recursion, and overflows the stack if the nesting is too deep. In the binary form it traps at
    /// wrong lengths, and decodes an object again for each of perhaps a million references. This module's own reader
    /// has limits.
    private static func isSafeToDecode(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: "bplist".utf8) ? PropertyList(decoding: bytes) != nil : PropertyListDepth.isSafe(bytes)
    }

    /// Encodes a list.
    /// - Throws: ``Flaw`` for a value that the format cannot hold.
    public static func encode(_ list: some Encodable, as format: Format) throws(Flaw) -> [UInt8] {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
        guard let bytes = try? encoder.encode(list) else { throw Flaw() }
        return Array(bytes)
    }
}
