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

    /// Checks that an app gets no more containers than it may have.
    /// - Parameter present: the app as it is installed; nil for a new one.
    /// - Throws: ``Complaint`` of kind `badRequest`.
    func requireFew(for identifier: ContainerIdentifier, besides present: InstalledApp?) throws(Complaint) {
        for (wanted, had, name) in [
            (groups, present?.groups ?? [], "groups"), (iCloud, present?.iCloud ?? [], "iCloud containers"),
        ] {
            let count = Set(wanted).union(had.map(\.identifier)).count
            guard count > max(Entitlements.mostContainers, had.count) else { continue }
            throw Complaint(
                .badRequest,
                "\(identifier) would have \(count) \(name), and an app has at most \(Entitlements.mostContainers) here; "
                    + "entitle it to fewer")
        }
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
            let asked = AppEntitlements(groups: groups, iCloud: iCloud)
            try asked.requireFew(for: identifier, besides: app)
            let wanted = asked.missing(from: app)
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
