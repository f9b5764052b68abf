// The entitlements that a new seal holds.

import PropertyLists
import SandboxModel

/// Entitlements for ``BundleSealer``, from the property list of a developer (Xcode's `.entitlements`).
public struct SealedEntitlements: Sendable {
    private let blobs: EntitlementBlobs
    /// The team that they name; nil without one. The code directory names it too.
    let team: String?

    /// - Parameter propertyList: in XML or binary form.
    /// - Throws: ``SealFault`` that goes on from the file's name.
    public init(propertyList: [UInt8]) throws(SealFault) {
        let entitlements = try EntitlementsPropertyList.decode(propertyList)
        blobs = try EntitlementBlobs(entitlements)
        do throws(Entitlements.Flaw) {
            team = try entitlements.teamIdentifier
            _ = try (entitlements.groups, entitlements.iCloudContainers, entitlements.defaultProtection)
            _ = try entitlements.applicationIdentifier
        } catch {
            throw SealFault("its entitlements cannot be taken: \(error.reason)")
        }
    }

    /// A file of the seal, which a special slot of the code directory covers.
    struct Part {
        let name: FileName
        let slot: Int
        let bytes: [UInt8]
    }

    var parts: [Part] {
        [
            Part(name: SealLayout.entitlements, slot: CodeDirectory.entitlementsSlot, bytes: blobs.propertyList ?? []),
            Part(name: SealLayout.derEntitlements, slot: CodeDirectory.derEntitlementsSlot, bytes: blobs.der ?? []),
        ]
    }
}
