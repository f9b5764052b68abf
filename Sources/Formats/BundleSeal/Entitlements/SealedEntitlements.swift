// The entitlements that a new seal holds.

import Platform
import SandboxModel

/// Entitlements for ``BundleSealer``, from the property list of a developer (Xcode's `.entitlements`).
public struct SealedEntitlements: Sendable {
    private let blobs: EntitlementBlobs
    /// The team that they name; nil without one. The code directory names it too.
    let team: String?

    /// - Parameter propertyList: in XML or binary form.
    /// - Throws: ``SealFault`` that goes on from the file's name.
    public init(propertyList: [UInt8]) throws(SealFault) {
        try self.init(try EntitlementsPropertyList.decode(propertyList))
    }

    /// Those that the seal of a bundle holds now; nil for none.
    /// - Throws: ``SealFault`` where they cannot be read.
    init?(keptFrom bundle: borrowing Descriptor) throws(SealFault) {
        let found = try EntitlementBlobs(in: bundle, at: [SealLayout.directory])
        guard found.propertyList != nil || found.der != nil else { return nil }
        try self.init(try found.entitlements())
    }

    private init(_ entitlements: Entitlements) throws(SealFault) {
        blobs = try EntitlementBlobs(entitlements)
        do throws(Entitlements.Flaw) {
            team = try entitlements.teamIdentifier
            _ = try (entitlements.groups, entitlements.iCloudContainers, entitlements.defaultProtection)
            _ = try entitlements.applicationIdentifier
        } catch {
            throw SealFault("its entitlements cannot be taken: \(error.reason)")
        }
        guard team.map(CodeDirectory.canName) ?? true else {
            throw SealFault(
                "its entitlements cannot be taken: \(Entitlements.Key.teamIdentifier) has a NUL character, or more than "
                    + "\(CodeDirectory.longestText - 1) bytes")
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
