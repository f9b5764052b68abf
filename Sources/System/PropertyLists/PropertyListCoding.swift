// Property lists as Foundation decodes and encodes them. The one place that lets its decoder see what others have written.

import FoundationEssentials

public enum PropertyListCoding {
    /// The bytes are no list of that type, or the list cannot be written.
    public struct Flaw: Error, Hashable {}

    public enum Format: Sendable {
        case xml
        case binary
    }

    /// Decodes a list in either form, which anybody may have written.
    public static func decode<List: Decodable>(_ type: List.Type, from bytes: [UInt8]) throws(Flaw) -> List {
        guard isHarmless(bytes), let list = try? PropertyListDecoder().decode(type, from: Data(bytes)) else {
            throw Flaw()
        }
        return list
    }

    /// Foundation's decoder descends into XML by recursion. In the binary form it trusts false lengths, which ends the
    /// process, and decodes an object anew at each of its places, even a million. The reader of this module counts, and
    /// trusts nothing.
    private static func isHarmless(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: "bplist".utf8) ? PropertyList(decoding: bytes) != nil : PropertyListDepth.isSane(bytes)
    }

    public static func encode(_ list: some Encodable, as format: Format) throws(Flaw) -> [UInt8] {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
        guard let bytes = try? encoder.encode(list) else { throw Flaw() }
        return Array(bytes)
    }
}
