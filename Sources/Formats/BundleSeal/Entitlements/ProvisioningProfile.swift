// Provisioning profiles: what Apple lets the apps of a team be entitled to.

public import SandboxModel

/// The `embedded.mobileprovision` of an app: a property list in a CMS message (Apple, TN3125).
public struct ProvisioningProfile: Equatable, Sendable {
    public let name: String
    public let uuid: String
    /// The teams whose apps it is for; usually one.
    public let teams: [String]
    /// Seconds since 1970, after which no app with it can be installed.
    public let expiry: Int64
    /// The UDIDs of the devices that it is for; nil for all.
    public let devices: [String]?
    /// The entitlements that an app with it may have.
    public let entitlements: Entitlements
    /// The signers that it allows: certificates in DER. Empty for any.
    let certificates: [[UInt8]]

    /// Its place in an app.
    static let fileName: FileName = "embedded.mobileprovision"

    /// An app and its signer, held against a profile.
    struct Claim {
        let identifier: ContainerIdentifier
        let entitlements: Entitlements
        let team: String?
        /// The signer's certificate in DER; nil where nobody has signed.
        let certificate: [UInt8]?
    }

    /// Checks that the profile is for an app, and bounds its entitlements.
    /// - Parameter now: seconds since 1970.
    /// - Throws: ``SealFault`` that goes on from "the provisioning profile".
    func check(_ claim: Claim, now: Int64) throws(SealFault) {
        guard now < expiry else { throw SealFault("has expired") }
        if let team = claim.team, !teams.contains(team) {
            throw SealFault("is for apps of the team \(shown(teams)), and the app is of \(Array(team.utf8).shown)")
        }
        guard let pattern = try identifierPattern(), allows(pattern, claim) else {
            throw SealFault("is for another app than \(claim.identifier)")
        }
        if let certificate = claim.certificate, !certificates.isEmpty, !certificates.contains(certificate) {
            throw SealFault("does not have the certificate of the app's signer")
        }
        if let key = claim.entitlements.firstKey(notAllowedBy: entitlements) {
            throw SealFault("does not allow the app its entitlement \(Array(key.utf8).shown)")
        }
    }

    private func identifierPattern() throws(SealFault) -> String? {
        do throws(Entitlements.Flaw) {
            return try entitlements.applicationIdentifier
        } catch {
            throw SealFault("has entitlements that cannot be read: \(error.reason)")
        }
    }

    /// Whether `TEAM.com.example.*`, or without the star, is the app.
    private func allows(_ pattern: String, _ claim: Claim) -> Bool {
        guard let dot = pattern.firstIndex(of: ".") else { return false }
        let identifier = pattern[pattern.index(after: dot)...]
        guard identifier.hasSuffix("*") else { return identifier == claim.identifier.text }
        return claim.identifier.text.hasPrefix(identifier.dropLast())
    }

    private func shown(_ texts: [String]) -> String {
        texts.map { Array($0.utf8).shown }.joined(separator: ", ")
    }
}
