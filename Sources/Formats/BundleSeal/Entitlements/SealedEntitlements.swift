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
        var found = EntitlementBlobs(propertyList: nil, der: nil)
        do throws(SystemError) {
            found.propertyList = try bundle.sealFile(SealLayout.entitlements)
            found.der = try bundle.sealFile(SealLayout.derEntitlements)
        } catch {
            throw SealFault("they cannot be read: \(error.message)")
        }
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

extension Descriptor {
    /// The bytes of a file of this bundle's `_CodeSignature`; nil where there is none.
    fileprivate borrowing func sealFile(_ name: FileName) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            return try openFile(at: [SealLayout.directory, name]).readToEnd(limit: EntitlementBlobs.largest)
        } catch {
            guard error == .noEntry else { throw error }
            return nil
        }
    }
}
