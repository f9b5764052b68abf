// Provisioning profiles from bytes.

import FoundationEssentials
import PropertyLists
import SandboxModel

extension ProvisioningProfile {
    /// The limit in bytes; real ones take some ten kilobytes.
    static let largest = 1 << 20

    /// The keys of the property list that are read here.
    private struct List: Decodable {
        let name: String?
        let uuid: String?
        let teams: [String]
        let expiry: Date
        let devices: [String]?
        let entitlements: [String: EntitlementValue]
        let certificates: [Data]?

        private enum CodingKeys: String, CodingKey {
            case name = "Name"
            case uuid = "UUID"
            case teams = "TeamIdentifier"
            case expiry = "ExpirationDate"
            case devices = "ProvisionedDevices"
            case entitlements = "Entitlements"
            case certificates = "DeveloperCertificates"
        }
    }

    /// Decodes a profile, and checks that its signature holds for its content. Apple's key is not known here: any
    /// signer is accepted.
    /// - Throws: ``SealFault`` that goes on from "the provisioning profile".
    public init(decoding bytes: [UInt8]) throws(SealFault) {
        let content: [UInt8]
        do throws(SealFault) {
            content = try CMSSignature.content(of: bytes)
        } catch {
            throw SealFault("cannot be read: \(error.reason)")
        }
        let list: List
        do throws(PropertyListCoding.Flaw) {
            list = try PropertyListCoding.decode(List.self, from: content)
        } catch {
            throw SealFault("cannot be read: its property list lacks what every profile has")
        }
        name = list.name ?? ""
        uuid = list.uuid ?? ""
        teams = list.teams
        // Dates of a list that is malformed may lie beyond any number of seconds.
        let seconds = list.expiry.timeIntervalSince1970
        guard let expiry = Int64(exactly: seconds.rounded(.down)) else { throw SealFault("has no date that can be") }
        self.expiry = expiry
        devices = list.devices
        entitlements = SandboxModel.Entitlements(list.entitlements)
        certificates = (list.certificates ?? []).map { Array($0) }
    }
}
