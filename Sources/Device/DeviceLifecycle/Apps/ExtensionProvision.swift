// The extensions of an app that is installed or updated: each has a data container of its own, which it keeps.

import BackingStore
import BundleSeal
import SandboxModel

extension ContainerProvision {
    /// Makes the containers of an app's extensions, as far as they have none.
    /// - Parameters:
    ///   - owner: the user that the app has on record.
    ///   - present: the extensions of the installed app.
    /// - Returns: the extensions as they will be.
    mutating func stageExtensions(
        of app: StagedApp, as owner: ContainerOwner, present: [InstalledApp] = [], in staged: inout StagedContainers
    ) throws(Complaint) -> [InstalledApp] {
        var family: [InstalledApp] = []
        for part in app.extensions {
            let entitlements = AppEntitlements(groups: part.groups, iCloud: part.iCloud)
            let old = present.first { $0.identifier == part.identifier }
            let wanted = if let old { entitlements.missing(from: old) } else { entitlements }
            var shared = try stageShared(wanted, in: &staged)
            shared.groups = (old?.groups ?? []) + shared.groups
            shared.iCloud = (old?.iCloud ?? []) + shared.iCloud
            let data =
                if let old { old.data } else {
                    try stageData(of: part.identifier, part.signature, isExtension: true, in: &staged)
                }
            family.append(InstalledApp(part, of: app, data: data, shared, owner: owner))
        }
        return family
    }
}

extension InstalledApp {
    /// An extension of an app that was taken in, with its containers.
    fileprivate init(
        _ part: StagedExtension, of app: StagedApp, data: ContainerUUID, _ shared: ContainerProvision.Shared,
        owner: ContainerOwner
    ) {
        let information = part.information
        self.init(
            identifier: information.identifier, place: ExtensionPlace(app: app.identifier, name: part.name),
            bundleName: app.bundleName, displayName: information.displayName, version: information.version,
            build: information.build, executable: information.executable, sharesDocuments: false,
            signature: part.signature, bundle: app.container, data: data, groups: shared.groups, iCloud: shared.iCloud,
            owner: owner.user, ownerGroup: owner.group)
    }
}
