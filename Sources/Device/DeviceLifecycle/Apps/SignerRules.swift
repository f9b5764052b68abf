// By whose signature an app may take the place of another, and share a group with others.

import BackingStore
import SandboxModel

/// The rules of signers among the apps of a device.
struct SignerRules {
    private let registry: AppRegistry

    init(_ registry: AppRegistry) {
        self.registry = registry
    }

    /// Refuses an update by another signer than the installed app's.
    /// - Throws: ``Complaint`` of kind `anotherSigner`.
    func requireSuccessor(_ app: StagedApp) throws(Complaint) {
        guard let present = registry.apps.first(where: { $0.identifier == app.identifier }),
            let former = present.signature, !app.signature.mayFollow(former)
        else { return }
        throw Complaint(
            .anotherSigner,
            "\(app.identifier) is installed and signed by \(former.author), and the new one by \(app.signature.author); "
                + "uninstall it first, or add --replace-signer")
    }

    /// Refuses the groups that an app and its extensions have already and keep, where the signer changes and an app of
    /// another team has them too.
    /// - Throws: ``Complaint`` of kind `anotherSigner`.
    func requireKept(_ app: StagedApp) throws(Complaint) {
        let parts = [(app.identifier, app.signature)] + app.extensions.map { ($0.identifier, $0.signature) }
        for (identifier, signature) in parts {
            guard let present = registry.apps.first(where: { $0.identifier == identifier }) else { continue }
            // Under the same signer they were looked at when the app got them.
            if let former = present.signature, former.signer != .device, signature.mayFollow(former) { continue }
            try requireOwn(present.groups.map(\.identifier), of: signature, app.identifier)
        }
    }

    /// Refuses a group that an app of another team has.
    /// - Parameter identifier: of the app that is to have the groups, or of the app of an extension.
    /// - Throws: ``Complaint`` of kind `anotherSigner`.
    func requireOwn(
        _ groups: [ContainerIdentifier], of signature: AppSignature, _ identifier: ContainerIdentifier
    ) throws(Complaint) {
        // An app that the device has signed is of no team: whoever asks for its groups decides.
        guard signature.signer != .device else { return }
        for app in registry.apps where app.appIdentifier != identifier {
            guard let other = app.signature, other.signer != .device, !signature.mayFollow(other) else { continue }
            guard let shared = app.groups.first(where: { groups.contains($0.identifier) }) else { continue }
            throw Complaint(
                .anotherSigner,
                "the group \(shared.identifier) is that of \(app.identifier), which is signed by \(other.author); "
                    + "\(identifier) is signed by \(signature.author); uninstall one of the two first, or sign both by "
                    + "one team")
        }
    }
}

extension AppSignature {
    /// By whom, in a sentence.
    var author: String {
        let team = team.map { "the team \(Array($0.utf8).shown)" }
        return switch signer {
        case .device: "the device"
        case .nobody: team.map { "nobody (ad hoc, and names \($0))" } ?? "nobody"
        case .owner(let owner): team ?? Array(owner.name.utf8).shown
        }
    }
}
