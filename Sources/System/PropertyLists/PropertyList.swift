// A property list in memory, as keyed archives need it, and how deep one may be that somebody else has written.

/// What a property list in the binary form holds.
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
    /// An index into the objects of a keyed archive, which Foundation knows only inside NSKeyedArchiver.
    case uid(Int)

    /// Many times what is meant.
    static let deepest = 32

    /// - Returns: nil for anything that is not whole.
    public init?(decoding bytes: [UInt8]) {
        guard bytes.starts(with: PropertyList.magic), var reader = BinaryPropertyListReader(bytes),
            let list = reader.decode()
        else { return nil }
        self = list
    }

    public var encoded: [UInt8] {
        var writer = BinaryPropertyListWriter()
        return writer.encode(self)
    }

    /// What a list in the binary form begins with.
    static let magic = Array("bplist00".utf8)

    public subscript(_ key: String) -> PropertyList? {
        if case .dictionary(let values) = self { values[key] } else { nil }
    }

    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    public var data: [UInt8]? { if case .data(let value) = self { value } else { nil } }
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var array: [PropertyList]? { if case .array(let value) = self { value } else { nil } }
    public var dictionary: [String: PropertyList]? { if case .dictionary(let value) = self { value } else { nil } }
    public var uid: Int? { if case .uid(let value) = self { value } else { nil } }
}
