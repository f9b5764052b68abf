// appcontainer seal: signs an app.

import ArgumentParser
import BackingStore
import BundleSeal
import Platform
import SandboxModel

/// Works in this process on a directory of the host; no device is involved.
struct Seal: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign an app.",
        discussion: """
            Writes _CodeSignature into the .app directory, and first into every framework, extension and app inside \
            it. A signature that is there is replaced; a framework or extension keeps the entitlements that its own \
            has, so sign an extension with its entitlements first. The same app gives the same CodeResources and \
            CodeDirectory.

            With --entitlements the app is entitled to what the property list says, which is that of Xcode. An app \
            installed with them has its groups, its iCloud containers and its default protection class from them.

            Example:
              appcontainer seal Notes.app --identity ~/Developer --entitlements Notes.entitlements
            """)

    @Argument(help: "The .app directory, or the .appex of an extension.", completion: .directory)
    var app: String
    @Option(
        help: "The identity, as appcontainer identity makes one: a PEM file with a key and its certificate.",
        completion: .file())
    var identity: String
    @Option(help: "A property list with the app's entitlements, as Xcode keeps it.", completion: .file())
    var entitlements: String?
    @OptionGroup var trustedOwner: TrustOption

    func run() throws {
        let signer = try SealFiles.identity(at: identity)
        let entitlements = try entitlements.map(SealFiles.entitlements)
        let app = try AppDirectory(at: self.app, takesExtension: true)
        try working("sealing") { (report) throws(Complaint) in
            var done: Int64 = 0
            let finished = try BundleSealer(
                identity: signer, entitlements: entitlements, keepsInnerEntitlements: true
            ).seal(app.root, name: app.name) { count in
                done += count
                return report(DeviceProgress(unit: .bytes, completed: done, total: nil))
            }
            guard finished else { throw Complaint.cancelled }
        }
    }
}

/// Reads keys and certificates from PEM files.
enum SealFiles {
    /// - Throws: ``Complaint`` of kind `invalidIdentity` where key or certificate is missing or unusable, `notFound`.
    static func identity(at path: String) throws(Complaint) -> SigningIdentity {
        let bytes = try contents(path)
        do throws(SealFault) {
            return try SigningIdentity(pem: bytes)
        } catch {
            throw Complaint(
                .invalidIdentity, "\(path) is no identity: \(error.reason); make one with: appcontainer identity PATH")
        }
    }

    /// - Throws: ``Complaint`` of kind `invalidIdentity` for a file without a usable certificate, `notFound`.
    static func trusted(at path: String) throws(Complaint) -> TrustedCertificates {
        let bytes = try contents(path)
        do throws(SealFault) {
            return try TrustedCertificates(pem: bytes)
        } catch {
            throw Complaint(.invalidIdentity, "\(path) cannot be trusted: \(error.reason)")
        }
    }

    /// - Throws: ``Complaint`` of kind `invalidEntitlements`, or `notFound`.
    static func entitlements(at path: String) throws(Complaint) -> SealedEntitlements {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try HostPath.contents(path)
        } catch {
            switch error {
            case .noEntry: throw Complaint(.notFound, "\(path) does not exist; name a property list")
            case .isDirectory: throw Complaint(.invalidEntitlements, "\(path) is a directory; name a property list")
            default: throw Complaint(error, doing: "cannot read \(path)")
            }
        }
        do throws(SealFault) {
            return try SealedEntitlements(propertyList: bytes)
        } catch {
            throw Complaint(.invalidEntitlements, "\(path) holds no entitlements that a seal can have: \(error.reason)")
        }
    }

    /// - Throws: ``Complaint`` of kind `notFound`, `invalidIdentity` for a directory, or with the host's error.
    static func contents(_ path: String) throws(Complaint) -> [UInt8] {
        do throws(SystemError) {
            return try HostPath.contents(path)
        } catch {
            switch error {
            case .noEntry: throw Complaint(.notFound, "\(path) does not exist; name a PEM file")
            case .isDirectory: throw Complaint(.invalidIdentity, "\(path) is a directory; name a PEM file")
            default: throw Complaint(error, doing: "cannot read \(path)")
            }
        }
    }
}
