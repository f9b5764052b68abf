// The entitlements of a bundle's signature, held against its code directories and its provisioning profile.

import Platform
import SandboxModel

extension SealVerification {
    /// The signer, the team and the entitlements of a bundle whose signature holds.
    /// - Parameters:
    ///   - information: the Info.plist, which the signature covers.
    ///   - now: seconds since 1970, by which a profile expires.
    static func facts(
        of signature: CodeSignature, _ information: BundleInformation, in root: borrowing Descriptor, now: Int64
    ) -> SealedFacts {
        var facts = SealedFacts()
        do throws(SealFault) {
            // Otherwise the program of one signer could take the name of another.
            guard signature.hasOneSigner else { throw SealFault("the programs of its executable have several signers") }
            let team = try SealVerification.team(of: signature)
            let entitlements = try SealVerification.entitlements(of: signature)
            try SealVerification.check(entitlements, of: information.identifier, team: team)
            facts.profile = try SealVerification.profile(in: root)
            let claim = ProvisioningProfile.Claim(
                identifier: information.identifier, entitlements: entitlements, team: team,
                certificate: signature.verified?.certificate)
            do throws(SealFault) {
                try facts.profile?.check(claim, now: now)
            } catch {
                throw SealFault("\(ProvisioningProfile.fileName.text) \(error.reason)")
            }
            let signer: AppSignature.Signer =
                signature.verified.map { .owner(AppSignature.OfKey(key: $0.key, name: $0.signer)) } ?? .nobody
            facts.signature = AppSignature(signer: signer, team: team, entitlements: entitlements)
        } catch {
            facts.flaw = error.reason
        }
        return facts
    }

    /// The team of all code directories.
    private static func team(of signature: CodeSignature) throws(SealFault) -> String? {
        let teams = Set(signature.directories.map(\.teamIdentifier))
        guard teams.count == 1, let team = teams.first else {
            throw SealFault("the programs of its executable are of several teams")
        }
        return team
    }

    /// The entitlements of all programs, which have to be the same.
    private static func entitlements(of signature: CodeSignature) throws(SealFault) -> Entitlements {
        var found: Entitlements?
        if let fault = signature.entitlementFault {
            throw SealFault("its entitlements cannot be taken: \(fault.reason)")
        }
        for blobs in signature.entitlements {
            let entitlements: Entitlements
            do throws(SealFault) {
                entitlements = try blobs.entitlements()
            } catch {
                throw SealFault("its entitlements cannot be taken: \(error.reason)")
            }
            guard found == nil || found == entitlements else {
                throw SealFault("the programs of its executable have different entitlements")
            }
            found = entitlements
        }
        return found ?? Entitlements()
    }

    /// Checks the entitlements that a device acts upon, and that they are of this app.
    private static func check(
        _ entitlements: Entitlements, of identifier: ContainerIdentifier, team: String?
    ) throws(SealFault) {
        do throws(Entitlements.Flaw) {
            _ = try (entitlements.groups, entitlements.iCloudContainers, entitlements.defaultProtection)
            if let named = try entitlements.teamIdentifier, let team, named != team {
                throw Entitlements.Flaw("they name another team than the code directory")
            }
            if let full = try entitlements.applicationIdentifier, full != identifier.text,
                !full.hasSuffix("." + identifier.text)
            {
                throw Entitlements.Flaw(
                    "\(Entitlements.Key.applicationIdentifier) is that of another app: \(Array(full.utf8).shown)")
            }
        } catch {
            throw SealFault("its entitlements cannot be taken: \(error.reason)")
        }
    }

    /// The app's provisioning profile; nil without one.
    private static func profile(in root: borrowing Descriptor) throws(SealFault) -> ProvisioningProfile? {
        let bytes: [UInt8]
        do throws(SystemError) {
            guard try root.exists(ProvisioningProfile.fileName) else { return nil }
            bytes = try root.openFile(at: [ProvisioningProfile.fileName]).readToEnd(limit: ProvisioningProfile.largest)
        } catch {
            throw SealFault("\(ProvisioningProfile.fileName.text) cannot be read")
        }
        do throws(SealFault) {
            return try ProvisioningProfile(decoding: bytes)
        } catch {
            throw SealFault("\(ProvisioningProfile.fileName.text) \(error.reason)")
        }
    }
}
