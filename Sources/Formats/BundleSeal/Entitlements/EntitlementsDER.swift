// Entitlements in DER, which iOS has read since version 15.

import SandboxModel
import SwiftASN1

/// The DER of entitlements: the content of a signature's slot 7.
///
/// An application tag 16 holds the version 1 and a dictionary. A dictionary is a context tag 16 of sequences, each of a
/// key and its value; an array is a sequence of values (as `codesign` has written it since macOS 12; TN3125).
enum EntitlementsDER {
    private static let outermost = ASN1Identifier(tagWithNumber: 16, tagClass: .application)
    private static let dictionary = ASN1Identifier(tagWithNumber: 16, tagClass: .contextSpecific)
    private static let version = 1

    /// - Throws: ``SealFault`` for bytes that are no such DER, and for a key that occurs twice.
    static func decode(_ bytes: [UInt8]) throws(SealFault) -> Entitlements {
        do {
            let node = try DER.parse(bytes)
            var parts = try children(of: node, tagged: outermost)
            guard parts.count == 2, try Int(derEncoded: parts.removeFirst()) == version else {
                throw SealFault("their DER has a version that is not known")
            }
            return Entitlements(try values(of: parts[0], level: 1))
        } catch let fault as SealFault {
            throw fault
        } catch {
            throw SealFault("their DER cannot be read")
        }
    }

    private static func children(of node: ASN1Node, tagged identifier: ASN1Identifier) throws -> [ASN1Node] {
        guard node.identifier == identifier, case .constructed(let nodes) = node.content else {
            throw SealFault("their DER cannot be read")
        }
        return Array(nodes)
    }

    private static func values(of node: ASN1Node, level: Int) throws -> [String: EntitlementValue] {
        var values: [String: EntitlementValue] = [:]
        for entry in try children(of: node, tagged: dictionary) {
            let pair = try children(of: entry, tagged: .sequence)
            guard pair.count == 2 else { throw SealFault("their DER cannot be read") }
            let key = try text(pair[0])
            guard values.updateValue(try value(pair[1], level: level + 1), forKey: key) == nil else {
                throw SealFault("their DER has \(Array(key.utf8).shown) twice")
            }
        }
        return values
    }

    private static func value(_ node: ASN1Node, level: Int) throws -> EntitlementValue {
        guard level <= EntitlementValue.deepest else { throw SealFault("their DER is nested too deeply") }
        switch node.identifier {
        case .boolean: return .boolean(try Bool(derEncoded: node))
        case .integer: return .integer(try Int64(derEncoded: node))
        case .utf8String: return .string(try text(node))
        case .sequence:
            return .array(try children(of: node, tagged: .sequence).map { try value($0, level: level + 1) })
        case dictionary: return .dictionary(try values(of: node, level: level))
        default: throw SealFault("their DER has a value that no entitlement has")
        }
    }

    private static func text(_ node: ASN1Node) throws -> String {
        guard let text = String(validating: try ASN1UTF8String(derEncoded: node).bytes, as: UTF8.self) else {
            throw SealFault("their DER has a text that is not UTF-8")
        }
        return text
    }

    /// Equal entitlements give equal bytes: keys are in the order of their bytes.
    static func encode(_ entitlements: Entitlements) -> [UInt8] {
        var serializer = DER.Serializer()
        // Nothing here throws: every value has an encoding.
        try! serializer.appendConstructedNode(identifier: outermost) { coder in
            try coder.serialize(version)
            try append(entitlements.values, to: &coder)
        }
        return serializer.serializedBytes
    }

    private static func append(
        _ values: [String: EntitlementValue], to coder: inout DER.Serializer
    ) throws {
        try coder.appendConstructedNode(identifier: dictionary) { coder in
            for (key, value) in values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(ASN1UTF8String(key))
                    try append(value, to: &coder)
                }
            }
        }
    }

    private static func append(_ value: EntitlementValue, to coder: inout DER.Serializer) throws {
        switch value {
        case .boolean(let flag): try coder.serialize(flag)
        case .integer(let number): try coder.serialize(number)
        case .string(let text): try coder.serialize(ASN1UTF8String(text))
        case .array(let values):
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                for value in values { try append(value, to: &coder) }
            }
        case .dictionary(let values): try append(values, to: &coder)
        }
    }
}
