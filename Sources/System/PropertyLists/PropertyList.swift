// Property lists in memory, including the UIDs of keyed archives, which Foundation does not decode.

/// An object of a binary property list.
public enum PropertyList: Equatable, Sendable {
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    /// Seconds since the beginning of 2001.
    case date(Double)
    case data([UInt8])
    case string(String)
    case array([PropertyList])
    case dictionary([String: PropertyList])
    /// An index into the objects of a keyed archive, which Foundation decodes only in NSKeyedUnarchiver.
    case uid(Int)

    /// The limit of nesting, many times that of real lists.
    static let deepest = 32

    /// Decodes a binary property list.
    /// - Returns: nil for a malformed list, and for one with too many objects or levels.
    public init?(decoding bytes: [UInt8]) {
        guard bytes.starts(with: PropertyList.magic), var reader = BinaryPropertyListReader(bytes),
            let list = reader.decode()
        else { return nil }
        self = list
    }

    /// The binary property list. Equal lists give equal bytes.
    public var encoded: [UInt8] {
        var writer = BinaryPropertyListWriter()
        return writer.encode(self)
    }

    /// The first bytes of a binary property list.
    static let magic = Array("bplist00".utf8)

    /// The value of a key; nil if this is no dictionary, or has no such key.
    public subscript(_ key: String) -> PropertyList? {
        if case .dictionary(let values) = self { values[key] } else { nil }
    }

    // The value, or nil for an object of another type.
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    public var data: [UInt8]? { if case .data(let value) = self { value } else { nil } }
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var array: [PropertyList]? { if case .array(let value) = self { value } else { nil } }
    public var dictionary: [String: PropertyList]? { if case .dictionary(let value) = self { value } else { nil } }
    public var uid: Int? { if case .uid(let value) = self { value } else { nil } }
}
