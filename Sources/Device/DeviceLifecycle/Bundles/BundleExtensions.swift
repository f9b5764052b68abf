// The app extensions in a bundle that is being taken in.

import BackingStore
import BundleSeal
import Platform
public import SandboxModel

/// An app extension of an app that was taken in.
public struct StagedExtension: Sendable {
    /// The name of its bundle in `PlugIns`, such as `Share.appex`.
    let name: FileName
    let information: BundleInformation
    let signature: AppSignature

    public var identifier: ContainerIdentifier { information.identifier }
    /// The groups that its signature entitles it to. They were checked when the app was taken in.
    public var groups: [ContainerIdentifier] { (try? signature.entitlements.groups) ?? [] }
    /// The iCloud containers that its signature entitles it to.
    public var iCloud: [ContainerIdentifier] { (try? signature.entitlements.iCloudContainers) ?? [] }
}

/// Reads the extensions of a bundle, by the rules that a phone has for them.
struct BundleExtensions {
    /// The bundle of the app.
    private let root: SharedDescriptor
    private let name: FileName
    private let app: BundleInformation
    private let signature: AppSignature
    /// The extensions of the app's seal; nil for an app that the device has signed.
    private let sealed: [SealedExtension]?

    /// The limit of an app's extensions, many times that of real apps: each gets a container and an entry in Apps.json.
    static let most = 64

    /// - Parameter report: of the app's seal, which is valid; nil where the device has signed it.
    init(
        of root: SharedDescriptor, name: FileName, _ app: BundleInformation, _ signature: AppSignature,
        report: SealReport?
    ) {
        self.root = root
        self.name = name
        self.app = app
        self.signature = signature
        sealed = report?.extensions
    }

    /// - Throws: ``Complaint`` of kind `invalidApp`, `invalidIdentifier`, `anotherSigner`, or with the host's error.
    func read() throws(Complaint) -> [StagedExtension] {
        var found: [StagedExtension] = []
        for name in try names() {
            let next = try read(name)
            guard !found.contains(where: { $0.identifier == next.identifier }) else {
                throw invalid(name, "has the identifier of another extension, \(next.identifier)")
            }
            found.append(next)
        }
        return found
    }

    /// The directories in `PlugIns` that are named like an extension, sorted.
    private func names() throws(Complaint) -> [FileName] {
        let root = root
        guard (try? root.descriptor.status(of: HomeLayout.plugIns).kind) == .directory else { return [] }
        let found = try Complaint.wrap("cannot look through \(name.text)") { () throws(SystemError) in
            let directory = try root.descriptor.openDirectory(HomeLayout.plugIns)
            var found: [FileName] = []
            for name in try directory.names(where: AppDirectory.isExtensionName)
            where try directory.status(of: name).kind == .directory {
                found.append(name)
            }
            return found
        }
        guard found.count <= BundleExtensions.most else {
            throw Complaint(
                .invalidApp,
                "\(name.text) has \(found.count) extensions in \(HomeLayout.plugIns.text), and an app has at most "
                    + "\(BundleExtensions.most) here; leave some out")
        }
        return found.sorted { $0.text < $1.text }
    }

    private func read(_ name: FileName) throws(Complaint) -> StagedExtension {
        let root = root
        let bundle = try Complaint.wrap("cannot open \(name.text)") { () throws(SystemError) in
            try root.descriptor.openDirectory(at: [HomeLayout.plugIns, name])
        }
        let information = try BundleInformation(of: bundle, bundleName: name)
        guard information.identifier.text.hasPrefix(app.identifier.text + ".") else {
            throw invalid(
                name,
                "has the identifier \(information.identifier), which does not begin with \(app.identifier) and a dot")
        }
        return StagedExtension(name: name, information: information, signature: try signature(of: name))
    }

    /// - Throws: ``Complaint`` of kind `invalidApp` where the app's seal has it as a resource, `anotherSigner`.
    private func signature(of name: FileName) throws(Complaint) -> AppSignature {
        guard let sealed else { return signature }
        guard let own = sealed.first(where: { $0.name == name })?.facts.signature else {
            throw invalid(name, "is not sealed as code of the app")
        }
        guard own.mayFollow(signature) else {
            throw Complaint(
                .anotherSigner,
                "\(self.name.text) is signed by \(signature.author), and its extension \(name.text) by \(own.author); "
                    + "sign both with one identity")
        }
        return own
    }

    private func invalid(_ name: FileName, _ flaw: String) -> Complaint {
        Complaint(.invalidApp, "\(self.name.text)/\(HomeLayout.plugIns.text)/\(name.text) \(flaw)")
    }
}
