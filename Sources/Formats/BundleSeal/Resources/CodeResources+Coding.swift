// CodeResources as a property list: read as XML or binary, written as XML.

import FoundationEssentials
import PropertyLists

extension CodeResources {
    /// The limit in bytes of a CodeResources that is read: a bundle of a million files needs far less.
    static let largest = 256 << 20

    /// Decodes the property list.
    /// - Throws: ``SealFault`` for anything that is not a CodeResources.
    init(decoding bytes: [UInt8]) throws(SealFault) {
        guard bytes.count <= CodeResources.largest,
            let document = try? PropertyListCoding.decode(Document.self, from: bytes)
        else { throw SealFault("it is not a property list of sealed resources") }
        files = document.files ?? [:]
        files2 = document.files2
        rules = CodeResources.rules(document.rules)
        rules2 = document.rules2.map(CodeResources.rules)
    }

    /// The property list as XML. Equal content gives equal bytes.
    /// - Throws: ``SealFault`` for text that XML cannot hold.
    func encoded() throws(SealFault) -> [UInt8] {
        let document = Document(
            files: files, files2: files2, rules: CodeResources.table(rules),
            rules2: rules2.map(CodeResources.table))
        guard let bytes = try? PropertyListCoding.encode(document, as: .xml) else {
            throw SealFault("it cannot be written as a property list")
        }
        return bytes
    }

    /// The rules of a dictionary from pattern to value.
    private static func rules(_ table: [String: RuleValue]?) -> [ResourceRule] {
        (table ?? [:]).map { pattern, value in
            ResourceRule(
                pattern: pattern, weight: value.weight ?? 1, isOmitted: value.omit ?? false,
                isOptional: value.optional ?? false, isNested: value.nested ?? false)
        }
    }

    /// The dictionary of rules. Defaults are left out, as codesign does.
    private static func table(_ rules: [ResourceRule]) -> [String: RuleValue] {
        var table: [String: RuleValue] = [:]
        for rule in rules {
            table[rule.pattern] = RuleValue(
                omit: rule.isOmitted ? true : nil, optional: rule.isOptional ? true : nil,
                nested: rule.isNested ? true : nil, weight: rule.weight == 1 ? nil : rule.weight)
        }
        return table
    }
}

/// The top level of the property list.
private struct Document: Codable {
    var files: [String: CodeResources.Entry]?
    var files2: [String: CodeResources.Entry]?
    var rules: [String: RuleValue]?
    var rules2: [String: RuleValue]?
}

/// The value of a rule: `true`, or a dictionary of everything that differs from the defaults.
private struct RuleValue: Codable {
    var omit, optional, nested: Bool?
    var weight: Double?

    init(omit: Bool?, optional: Bool?, nested: Bool?, weight: Double?) {
        self.omit = omit
        self.optional = optional
        self.nested = nested
        self.weight = weight
    }

    private enum Key: CodingKey {
        case omit, optional, nested, weight
    }

    init(from decoder: any Decoder) throws {
        if let flag = try? decoder.singleValueContainer().decode(Bool.self) {
            omit = flag ? nil : true
            return
        }
        let container = try decoder.container(keyedBy: Key.self)
        omit = try container.decodeIfPresent(Bool.self, forKey: .omit)
        optional = try container.decodeIfPresent(Bool.self, forKey: .optional)
        nested = try container.decodeIfPresent(Bool.self, forKey: .nested)
        weight = try container.decodeIfPresent(Double.self, forKey: .weight)
    }

    func encode(to encoder: any Encoder) throws {
        if omit == nil, optional == nil, nested == nil, weight == nil {
            var container = encoder.singleValueContainer()
            return try container.encode(true)
        }
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(omit, forKey: .omit)
        try container.encodeIfPresent(optional, forKey: .optional)
        try container.encodeIfPresent(nested, forKey: .nested)
        try container.encodeIfPresent(weight, forKey: .weight)
    }
}

/// An entry of `files` or `files2`: data, which is a SHA-1 digest, or a dictionary.
extension CodeResources.Entry: Codable {
    private enum Key: CodingKey {
        case hash, hash2, symlink, cdhash, requirement, optional
    }

    init(from decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: Key.self) else {
            let digest = try decoder.singleValueContainer().decode(Data.self)
            resource = .file(sha1: Array(digest), sha256: nil)
            return
        }
        isOptional = try container.decodeIfPresent(Bool.self, forKey: .optional) ?? false
        if let target = try container.decodeIfPresent(String.self, forKey: .symlink) {
            resource = .symbolicLink(target: target)
        } else if let hash = try container.decodeIfPresent(Data.self, forKey: .cdhash) {
            resource = .nested(
                codeDirectoryHash: Array(hash),
                requirement: try container.decodeIfPresent(String.self, forKey: .requirement))
        } else {
            let sha1 = try container.decodeIfPresent(Data.self, forKey: .hash)
            let sha256 = try container.decodeIfPresent(Data.self, forKey: .hash2)
            guard sha1 != nil || sha256 != nil else {
                throw DecodingError.dataCorruptedError(forKey: .hash2, in: container, debugDescription: "no digest")
            }
            resource = .file(sha1: sha1.map(Array.init), sha256: sha256.map(Array.init))
        }
    }

    func encode(to encoder: any Encoder) throws {
        if case .file(let sha1?, nil) = resource, !isOptional {
            var container = encoder.singleValueContainer()
            return try container.encode(Data(sha1))
        }
        var container = encoder.container(keyedBy: Key.self)
        if isOptional { try container.encode(true, forKey: .optional) }
        switch resource {
        case .file(let sha1, let sha256):
            try container.encodeIfPresent(sha1.map { Data($0) }, forKey: .hash)
            try container.encodeIfPresent(sha256.map { Data($0) }, forKey: .hash2)
        case .symbolicLink(let target): try container.encode(target, forKey: .symlink)
        case .nested(let hash, let requirement):
            try container.encode(Data(hash), forKey: .cdhash)
            try container.encodeIfPresent(requirement, forKey: .requirement)
        }
    }
}
