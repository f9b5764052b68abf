// The values of entitlements.

/// The value of one entitlement: what the property list and the DER of a signature can both hold (Apple, TN3125).
public enum EntitlementValue: Hashable, Sendable {
    case boolean(Bool)
    case integer(Int64)
    case string(String)
    case array([EntitlementValue])
    case dictionary([String: EntitlementValue])

    /// The limit of nesting; real entitlements have two levels.
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

    /// This value and all within it.
    public var count: Int {
        switch self {
        case .boolean, .integer, .string: 1
        case .array(let values): values.reduce(1) { $0 + $1.count }
        case .dictionary(let values): values.values.reduce(1) { $0 + $1.count }
        }
    }
}

/// In JSON and in property lists, as the plain value.
extension EntitlementValue: Codable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    public init(from decoder: any Decoder) throws {
        if let values = try? decoder.container(keyedBy: Key.self) {
            guard decoder.codingPath.count < EntitlementValue.deepest else { throw EntitlementValue.depth(decoder) }
            self = .dictionary(
                Dictionary(
                    uniqueKeysWithValues: try values.allKeys.map {
                        ($0.stringValue, try values.decode(EntitlementValue.self, forKey: $0))
                    }))
            return
        }
        if var values = try? decoder.unkeyedContainer() {
            guard decoder.codingPath.count < EntitlementValue.deepest else { throw EntitlementValue.depth(decoder) }
            var items: [EntitlementValue] = []
            while !values.isAtEnd { items.append(try values.decode(EntitlementValue.self)) }
            self = .array(items)
            return
        }
        let value = try decoder.singleValueContainer()
        if let flag = try? value.decode(Bool.self) {
            self = .boolean(flag)
        } else if let number = try? value.decode(Int64.self) {
            self = .integer(number)
        } else {
            self = .string(try value.decode(String.self))
        }
    }

    private static func depth(_ decoder: any Decoder) -> DecodingError {
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
