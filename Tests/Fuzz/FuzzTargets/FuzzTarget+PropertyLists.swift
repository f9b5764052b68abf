// Property lists: of bundles, signatures and backups.

import PropertyLists

@testable import BundleSeal

extension FuzzTarget {
    static let propertyLists = [
        FuzzTarget("property-list") { input in
            if let list = PropertyList(decoding: input) {
                // Not the lists: a number that is none is not equal to itself.
                let written = list.encoded
                require(
                    PropertyList(decoding: written)?.encoded == written, "a list changes when it is written and read")
            }
            _ = try PropertyListCoding.decode([String: Anything].self, from: input)
        },
        FuzzTarget("code-resources") { input in
            let resources = try CodeResources(decoding: input)
            let rules = try ResourceRules(resources.sealedRules)
            for path in resources.sealed.keys.prefix(8) { _ = rules.rule(for: path) }
        },
    ]

    /// Any value of a property list, read to its depths.
    private indirect enum Anything: Decodable {
        case list([Anything])
        case dictionary([String: Anything])
        case other

        init(from decoder: any Decoder) throws {
            if let values = try? decoder.singleValueContainer().decode([Anything].self) {
                self = .list(values)
            } else if let values = try? decoder.singleValueContainer().decode([String: Anything].self) {
                self = .dictionary(values)
            } else {
                self = .other
            }
        }
    }
}
