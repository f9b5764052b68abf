// Provisioning profiles from bytes.

import FoundationEssentials
import PropertyLists
import SandboxModel

extension ProvisioningProfile {
    /// The limit in bytes; real ones take some ten kilobytes.
    static let largest = 1 << 20

    /// The keys of the property list that are read here.
    private struct List: Decodable {
        let Name: String?
        let UUID: String?
        let TeamIdentifier: [String]
        let ExpirationDate: Date
        let ProvisionedDevices: [String]?
        let Entitlements: [String: EntitlementValue]
        let DeveloperCertificates: [Data]?
    }

    /// Decodes a profile, and checks that its signature holds for its content. Apple's key is not known here: any signer is
    /// accepted.
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
        name = list.Name ?? ""
        uuid = list.UUID ?? ""
        teams = list.TeamIdentifier
        // Dates of a list that is malformed may lie beyond any number of seconds.
        let seconds = list.ExpirationDate.timeIntervalSince1970
        guard let expiry = Int64(exactly: seconds.rounded(.down)) else { throw SealFault("has no date that can be") }
        self.expiry = expiry
        devices = list.ProvisionedDevices
        entitlements = SandboxModel.Entitlements(list.Entitlements)
        certificates = (list.DeveloperCertificates ?? []).map { Array($0) }
    }
}
