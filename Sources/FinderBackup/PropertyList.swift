// A property list in memory, and how deep and how large one may be that somebody else has written.

/// What a property list holds.
enum PropertyList: Equatable, Sendable {
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    /// Seconds since the beginning of 2001.
    case date(Double)
    case data([UInt8])
    case string(String)
    case array([PropertyList])
    case dictionary([String: PropertyList])
    /// An index into the objects of a keyed archive.
    case uid(Int)

    /// Many times what a backup's lists have.
    static let deepest = 32

    /// Reads the binary or the XML form.
    /// - Returns: nil for anything that is not whole.
    init?(decoding bytes: [UInt8]) {
        let list =
            bytes.starts(with: BinaryPropertyList.magic)
            ? BinaryPropertyList.decode(bytes) : XMLPropertyList.decode(bytes)
        guard let list else { return nil }
        self = list
    }

    /// In the binary form.
    var encoded: [UInt8] { BinaryPropertyList.encode(self) }

    subscript(_ key: String) -> PropertyList? {
        if case .dictionary(let values) = self { values[key] } else { nil }
    }

    var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    var data: [UInt8]? { if case .data(let value) = self { value } else { nil } }
    var string: String? { if case .string(let value) = self { value } else { nil } }
    var array: [PropertyList]? { if case .array(let value) = self { value } else { nil } }
    var dictionary: [String: PropertyList]? { if case .dictionary(let value) = self { value } else { nil } }
    var uid: Int? { if case .uid(let value) = self { value } else { nil } }
}
