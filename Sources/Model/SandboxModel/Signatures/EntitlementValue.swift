// The values of entitlements.

/// The value of one entitlement: what the property list and the DER of a signature can both hold (Apple, TN3125).
public enum EntitlementValue: Hashable, Sendable {
    case boolean(Bool)
    case integer(Int64)
    case string(String)
    case array([EntitlementValue])
    case dictionary([String: EntitlementValue])

    /// The limit of ``depth``; real entitlements have three levels.
    public static let deepest = 16

    /// The texts of an array of strings, or of one string.
    /// - Returns: nil for anything else.
    public var strings: [String]? {
        switch self {
        case .string(let text): return [text]
        case .array(let values):
            let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return texts.count == values.count ? texts : nil
        default: return nil
        }
    }

    /// The levels of values in each other: one for a value that holds no other.
    public var depth: Int {
        switch self {
        case .boolean, .integer, .string: 1
        case .array(let values): values.reduce(1) { max($0, $1.depth + 1) }
        case .dictionary(let values): values.values.reduce(1) { max($0, $1.depth + 1) }
        }
    }

    /// This value and all within it.
    public var count: Int {
        switch self {
        case .boolean, .integer, .string: 1
        case .array(let values): values.reduce(1) { $0 + $1.count }
        case .dictionary(let values): values.values.reduce(1) { $0 + $1.count }
        }
    }
}

/// In JSON and in property lists, as the plain value. A value that is nested more deeply than ``deepest`` does not
/// decode, by its own levels: those of what it lies in do not count, so that a value that was read somewhere is read
/// everywhere.
extension EntitlementValue: Codable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// A value whose depth is not known yet.
    private struct Nested: Decodable {
        /// Keeps the decoder's stack short. Far above ``deepest``, for the levels of what the value lies in.
        private static let deepestPath = deepest + 48

        let value: EntitlementValue

        init(from decoder: any Decoder) throws {
            guard decoder.codingPath.count <= Nested.deepestPath else { throw EntitlementValue.tooDeep(decoder) }
            if let values = try? decoder.container(keyedBy: Key.self) {
                value = .dictionary(
                    Dictionary(
                        uniqueKeysWithValues: try values.allKeys.map {
                            ($0.stringValue, try values.decode(Nested.self, forKey: $0).value)
                        }))
            } else if var values = try? decoder.unkeyedContainer() {
                var items: [EntitlementValue] = []
                while !values.isAtEnd { items.append(try values.decode(Nested.self).value) }
                value = .array(items)
            } else {
                value = try Nested.plain(in: try decoder.singleValueContainer())
            }
        }

        private static func plain(in container: any SingleValueDecodingContainer) throws -> EntitlementValue {
            if let flag = try? container.decode(Bool.self) { return .boolean(flag) }
            if let number = try? container.decode(Int64.self) { return .integer(number) }
            return .string(try container.decode(String.self))
        }
    }

    public init(from decoder: any Decoder) throws {
        self = try Nested(from: decoder).value
        guard depth <= EntitlementValue.deepest else { throw EntitlementValue.tooDeep(decoder) }
    }

    private static func tooDeep(_ decoder: any Decoder) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "nested too deeply"))
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .boolean(let flag):
            var container = encoder.singleValueContainer()
            try container.encode(flag)
        case .integer(let number):
            var container = encoder.singleValueContainer()
            try container.encode(number)
        case .string(let text):
            var container = encoder.singleValueContainer()
            try container.encode(text)
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        case .dictionary(let values):
            var container = encoder.container(keyedBy: Key.self)
            for (key, value) in values { try container.encode(value, forKey: Key(stringValue: key)) }
        }
    }
}
