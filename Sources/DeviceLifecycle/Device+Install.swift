// Installing an app: everything is built aside, made durable, renamed into place, and registered last.

public import BackingStore
import BundleSeal
import Glibc
import Platform
public import SandboxModel

extension Device {
    /// Installs a `.app` directory or an `.ipa`. Killed at any point, the app is installed or it is not there.
    ///
    /// - Parameters:
    ///   - groups, iCloud: containers the app is entitled to; one that another app has already is shared with it.
    ///   - owner: the container's user; nil for whoever runs this process. A group belongs to its first app's owner.
    ///   - notice: told what the user should know of how the app was taken in.
    ///   - progress: bytes copied, then bytes hashed.
    /// - Throws: ``Complaint`` of kind `notFound`, `invalidApp`, `invalidIdentifier`, `sealBroken`, `unsigned`,
    ///   `appExists`, `notAllowed`, `noSpace`.
    public func install(
        _ path: String, groups: [ContainerIdentifier] = [], iCloud: [ContainerIdentifier] = [],
        owner: ContainerOwner? = nil, demands: SealDemands = SealDemands(),
        notice: (String) -> Void = { _ in }, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> InstalledApp {
        let owner = owner ?? .current
        guard geteuid() == 0 || owner.user == geteuid() else {
            throw Complaint(.notAllowed, "only root can install an app for another user")
        }
        return try changing { (changes) throws(Complaint) in
            let bundle = ContainerUUID()
            let data = ContainerUUID()
            var staged = StagedContainers(directory)
            do throws(Complaint) {
                let intake = try stage(path, as: bundle, demands, in: &staged, progress: progress)
                let information = intake.information
                let identifier = information.identifier
                try stageData(of: identifier, as: data, owner: owner, in: &staged)
                let shared = try stageShared(groups: groups, iCloud: iCloud, owner: owner, in: &staged)
                try Complaint.wrap("cannot install \(intake.name.text)") { () throws(SystemError) in
                    try staged.moveIntoPlace(reached)
                }
                let app = InstalledApp(
                    identifier: identifier, bundleName: intake.name, displayName: information.displayName,
                    version: information.version, build: information.build, executable: information.executable,
                    sharesDocuments: information.sharesDocuments, bundle: bundle, data: data, groups: shared.groups,
                    iCloud: shared.iCloud, owner: owner.user, ownerGroup: owner.group)
                try changes.register(app)
                reached(.registered)
                intake.notices.forEach(notice)
                return app
            } catch {
                staged.discard()
                throw error
            }
        }
    }

    private func stage(
        _ path: String, as uuid: ContainerUUID, _ demands: SealDemands, in staged: inout StagedContainers,
        progress: (DeviceProgress) -> Bool
    ) throws(Complaint) -> BundleIntake {
        let container: Descriptor
        do throws(SystemError) {
            container = try staged.make(.bundle, uuid, owner: .current)
        } catch {
            throw Complaint(error, doing: "cannot copy \(path)")
        }
        let apps = self.apps
        var intake = try BundleIntake(path, into: container, demands: demands, progress: progress) { identifier in
            apps.contains { $0.identifier == identifier }
        }
        reached(.stagedBundle)
        try intake.seal(
            key: try bundleKey(of: uuid), identity: { () throws(Complaint) in try identity() }, progress: progress)
        reached(.sealedBundle)
        return intake
    }

    func stageData(
        of identifier: ContainerIdentifier, as uuid: ContainerUUID, owner: ContainerOwner,
        in staged: inout StagedContainers
    ) throws(Complaint) {
        do throws(Fault) {
            let container = try onHost { () throws(SystemError) in
                try staged.make(.data, uuid, owner: owner)
            }
            try DataContainer.fill(container, app: identifier, uuid: uuid, owner: owner, context: context)
        } catch {
            throw Complaint(error, doing: "cannot make the data container of \(identifier)")
        }
        reached(.stagedData)
    }

    /// Finds the containers that are on the device, and stages those that are not.
    func stageShared(
        groups: [ContainerIdentifier], iCloud: [ContainerIdentifier], owner: ContainerOwner,
        in staged: inout StagedContainers
    ) throws(Complaint) -> (groups: [SharedContainer], iCloud: [SharedContainer]) {
        let present = apps
        do throws(SystemError) {
            let groups = try Device.share(groups, .group, present.flatMap(\.groups), owner, in: &staged)
            let iCloud = try Device.share(iCloud, .iCloud, present.flatMap(\.iCloud), owner, in: &staged)
            reached(.stagedShared)
            return (groups, iCloud)
        } catch {
            throw Complaint(error, doing: "cannot make a group or iCloud container")
        }
    }

    private static func share(
        _ wanted: [ContainerIdentifier], _ kind: ContainerKind, _ present: [SharedContainer], _ owner: ContainerOwner,
        in staged: inout StagedContainers
    ) throws(SystemError) -> [SharedContainer] {
        var shared: [SharedContainer] = []
        for identifier in Set(wanted).sorted() {
            if let container = present.first(where: { $0.identifier == identifier }) {
                shared.append(container)
            } else {
                let container = SharedContainer(identifier: identifier, uuid: ContainerUUID())
                _ = try staged.make(kind, container.uuid, owner: owner)
                shared.append(container)
            }
        }
        return shared
    }
}
