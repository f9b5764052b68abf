// Installing an app: everything is built aside, made durable, renamed into place, and registered last.

public import BackingStore
import BundleSeal
import Glibc
import Platform
public import SandboxModel

extension BootedDevice {
    /// Installs an app that was taken in; one that is installed is updated. A process that is killed at any point
    /// leaves the device as it was, or as it is to be.
    ///
    /// - Parameters:
    ///   - groups, iCloud: containers the app is entitled to, besides those that it has; one that another app has
    ///     already is shared with it.
    ///   - owner: the container's user; nil for the user of this process, or the owner of the installed app. A group
    ///     belongs to its first app's owner.
    ///   - presenting: called before an update is decided on; returns the presenter that shows the app's home
    ///     meanwhile, or nil when none does.
    /// - Throws: ``Complaint`` of kind `notAllowed`, `anotherSigner`, `badRequest` for more containers than an app may
    ///   have, `noSpace`, and what `presenting` throws.
    public func install(
        _ app: StagedApp, groups: [ContainerIdentifier] = [], iCloud: [ContainerIdentifier] = [],
        owner: ContainerOwner? = nil,
        presenting: (AppUpdate) throws(Complaint) -> (any HomePresenter)? = { (_) throws(Complaint) in nil }
    ) throws(Complaint) -> InstalledApp {
        try requireOwner(owner, of: app.identifier)
        let entitlements = AppEntitlements(groups: groups + app.groups, iCloud: iCloud + app.iCloud)
        return try installedApps.changing { (changes) throws(Complaint) in
            try requireOwnIdentifiers(app)
            try entitlements.requireFew(for: app.identifier, besides: installedApps.installed(app.identifier))
            for part in app.extensions {
                try AppEntitlements(groups: part.groups, iCloud: part.iCloud)
                    .requireFew(for: part.identifier, besides: installedApps.installed(part.identifier))
            }
            let rules = SignerRules(registry)
            if !app.replacesSigner { try rules.requireSuccessor(app) }
            try rules.requireOwn(entitlements.groups, of: app.signature, app.identifier)
            for part in app.extensions { try rules.requireOwn(part.groups, of: part.signature, app.identifier) }
            try rules.requireKept(app)
            guard let present = installedApps.installed(app.identifier) else {
                return try AppInstallation(of: app, for: owner ?? .current, on: self).run(entitlements, changes)
            }
            var update = AppUpdateTransaction(of: present, to: app, on: self)
            return try update.run(entitlements, changes, presenting: presenting)
        }
    }

    /// Checks that no other app has an identifier of an app or of its extensions.
    /// - Throws: ``Complaint`` of kind `invalidApp`.
    private func requireOwnIdentifiers(_ app: StagedApp) throws(Complaint) {
        for identifier in [app.identifier] + app.extensions.map(\.identifier) {
            guard let present = installedApps.installed(identifier), present.appIdentifier != app.identifier else {
                continue
            }
            let what = present.place == nil ? "an app" : "an extension of \(present.appIdentifier)"
            throw Complaint(
                .invalidApp,
                "\(app.bundleName.text) cannot be installed: \(identifier) is installed as \(what); uninstall "
                    + "\(present.appIdentifier) first")
        }
    }

    /// Checks that an app can be installed for a user: an installed app keeps its owner.
    /// - Parameter owner: nil where nobody was named.
    /// - Throws: ``Complaint`` of kind `notAllowed`.
    public func requireOwner(
        _ owner: ContainerOwner?, of identifier: ContainerIdentifier
    ) throws(Complaint) {
        guard let owner else { return }
        if let present = installedApps.installed(identifier), present.owner != owner.user {
            throw Complaint(
                .notAllowed,
                "\(identifier) belongs to the user \(present.owner), and an update leaves it so; leave --owner out, or "
                    + "uninstall it first")
        }
        guard geteuid() == 0 || owner.user == geteuid() else {
            throw Complaint(.notAllowed, "only root can install an app for another user")
        }
    }
}

/// One installation of an app that the device does not have yet. Its owner changes apps, so that no other operation is
/// under way. The registry decides; a process that ends before leaves a device without the app.
private struct AppInstallation {
    private let device: BootedDevice
    private let app: StagedApp
    private let owner: ContainerOwner

    init(of app: StagedApp, for owner: ContainerOwner, on device: BootedDevice) {
        self.device = device
        self.app = app
        self.owner = owner
    }

    /// Carries out the installation. The app exists once `register` has returned; an error before undoes everything.
    /// - Returns: the app as it is registered.
    func run(_ entitlements: AppEntitlements, _ changes: AppChanges) throws(Complaint) -> InstalledApp {
        var staged = StagedContainers(device.directory)
        staged.take(.bundle, app.container)
        do throws(Complaint) {
            let family = try stageContainers(entitlements, in: &staged)
            let doing = "cannot install \(app.bundleName.text)"
            try device.space.requireSpace(for: device.space.stagedBytes(app.container.fileName), doing: doing)
            try Complaint.wrap(doing) { () throws(SystemError) in
                try staged.moveIntoPlace(device.reached)
            }
            try changes.register(family)
            device.reached(.registered)
            return family[0]
        } catch {
            staged.discard()
            throw error
        }
    }

    /// Makes the app's containers and those of its extensions, or finds those that are there.
    /// - Returns: the app as it will be, and then its extensions.
    private func stageContainers(
        _ entitlements: AppEntitlements, in staged: inout StagedContainers
    ) throws(Complaint) -> [InstalledApp] {
        var provision = ContainerProvision(device, owner: owner)
        let data = try provision.stageData(of: app.identifier, app.signature, in: &staged)
        let shared = try provision.stageShared(entitlements, in: &staged)
        return [InstalledApp(app, data: data, shared, owner: owner)]
            + (try provision.stageExtensions(of: app, as: owner, in: &staged))
    }
}

extension InstalledApp {
    /// An app that was taken in, with its containers.
    init(_ app: StagedApp, data: ContainerUUID, _ shared: ContainerProvision.Shared, owner: ContainerOwner) {
        let information = app.information
        self.init(
            identifier: information.identifier, bundleName: app.bundleName, displayName: information.displayName,
            version: information.version, build: information.build, executable: information.executable,
            sharesDocuments: information.sharesDocuments, signature: app.signature, bundle: app.container, data: data,
            groups: shared.groups, iCloud: shared.iCloud, owner: owner.user, ownerGroup: owner.group)
    }

    /// The class of files in a new data container to which nothing else gives one.
    var defaultProtection: ProtectionClass { signature?.defaultProtection ?? .standard }

    /// The user of the app's containers.
    var containerOwner: ContainerOwner { ContainerOwner(user: owner, group: ownerGroup) }
}
