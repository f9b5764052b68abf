// The group and iCloud containers that an app is entitled to, and entitling an installed app to more of them.

public import BackingStore
import Platform
public import SandboxModel

/// Identifiers of containers that an app shares with others.
struct AppEntitlements: Sendable {
    var groups: [ContainerIdentifier]
    var iCloud: [ContainerIdentifier]

    /// Those that an installed app does not have yet.
    func missing(from app: InstalledApp) -> AppEntitlements {
        AppEntitlements(
            groups: groups.filter { id in !app.groups.contains { $0.identifier == id } },
            iCloud: iCloud.filter { id in !app.iCloud.contains { $0.identifier == id } })
    }
}

extension BootedDevice {
    /// Entitles an installed app to further containers; those that it has already stay as they are. Where it has all of
    /// them nothing is written.
    /// - Returns: the app as it is then.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `anotherSigner`, or with the host's error.
    public func entitle(
        _ identifier: ContainerIdentifier, groups: [ContainerIdentifier] = [], iCloud: [ContainerIdentifier] = []
    ) throws(Complaint) -> InstalledApp {
        try installedApps.changing { (changes) throws(Complaint) in
            var app = try app(identifier)
            if let signature = app.signature {
                try SignerRules(registry).requireOwn(groups, of: signature, identifier)
            }
            let wanted = AppEntitlements(groups: groups, iCloud: iCloud).missing(from: app)
            var provision = ContainerProvision(self, owner: app.containerOwner)
            var staged = StagedContainers(directory)
            do throws(Complaint) {
                let shared = try provision.stageShared(wanted, in: &staged)
                guard !shared.isEmpty else { return app }
                try Complaint.wrap("cannot entitle \(identifier)") { () throws(SystemError) in
                    try staged.moveIntoPlace(reached)
                }
                app.groups += shared.groups
                app.iCloud += shared.iCloud
                try changes.register(app)
            } catch {
                staged.discard()
                throw error
            }
            return app
        }
    }
}
