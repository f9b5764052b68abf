// Entitlements as the property list of a signature.

import PropertyLists
import SandboxModel

/// The property list of entitlements: the content of a signature's slot 5, and of a file for `seal --entitlements`.
enum EntitlementsPropertyList {
    /// Decodes a list in XML or binary form.
    /// - Throws: ``SealFault`` for a list that is no dictionary, and for values that no entitlement has: dates, data
    ///   and fractions.
    static func decode(_ bytes: [UInt8]) throws(SealFault) -> Entitlements {
        let value: EntitlementValue
        do throws(PropertyListCoding.Flaw) {
            value = try PropertyListCoding.decode(EntitlementValue.self, from: bytes)
        } catch {
            throw SealFault("their property list cannot be read, or has a value that no entitlement has")
        }
        guard case .dictionary(let values) = value else { throw SealFault("their property list is no dictionary") }
        return Entitlements(values)
    }

    /// The list as codesign embeds it: XML.
    /// - Throws: ``SealFault`` for a text that XML cannot hold.
    static func encode(_ entitlements: Entitlements) throws(SealFault) -> [UInt8] {
        do throws(PropertyListCoding.Flaw) {
            return try PropertyListCoding.encode(EntitlementValue.dictionary(entitlements.values), as: .xml)
        } catch {
            throw SealFault("they have a text that no property list can hold")
        }
    }
}
