// Installing an app: everything is built aside, made durable, renamed into place, and registered last.

public import BackingStore
import BundleSeal
import Glibc
import Platform
public import SandboxModel

extension Device {
    /// Installs an app that was taken in; one that is installed is updated. Killed at any point, the device has what was
    /// there before, or what is to be, and all of it.
    ///
    /// - Parameters:
    ///   - groups, iCloud: containers the app is entitled to, besides those that it has; one that another app has
    ///     already is shared with it.
    ///   - owner: the container's user; nil for whoever runs this process, or whose the installed app is. A group
    ///     belongs to its first app's owner.
    ///   - presenting: asked before an update is decided on who shows the app meanwhile; nil when nobody does.
    /// - Throws: ``Complaint`` of kind `notAllowed`, `noSpace`, and what `presenting` throws.
    public func install(
        _ app: StagedApp, groups: [ContainerIdentifier] = [], iCloud: [ContainerIdentifier] = [],
        owner: ContainerOwner? = nil,
        presenting: (AppUpdate) throws(Complaint) -> (any HomePresenter)? = { (_) throws(Complaint) in nil }
    ) throws(Complaint) -> InstalledApp {
        try requireOwner(owner, of: app.identifier)
        return try changing { (changes) throws(Complaint) in
            if let present = apps.first(where: { $0.identifier == app.identifier }) {
                return try update(present, to: app, groups, iCloud, presenting, changes)
            }
            let owner = owner ?? .current
            let waiting = registry.waiting(.data, app.identifier)
            let data = waiting?.uuid ?? ContainerUUID()
            var staged = StagedContainers(directory)
            staged.take(.bundle, app.container)
            do throws(Complaint) {
                if let waiting {
                    try adopt(waiting, for: owner)
                } else {
                    try stageData(of: app.identifier, as: data, owner: owner, in: &staged)
                }
                let shared = try stageShared(groups: groups, iCloud: iCloud, owner: owner, in: &staged)
                let doing = "cannot install \(app.bundleName.text)"
                try requireRoom(for: stagedBytes(app.container.fileName), doing: doing)
                try Complaint.wrap(doing) { () throws(SystemError) in
                    try staged.moveIntoPlace(reached)
                }
                let installed = InstalledApp(
                    app, data: data, groups: shared.groups, iCloud: shared.iCloud, owner: owner)
                try changes.register(installed)
                reached(.registered)
                return installed
            } catch {
                staged.discard()
                throw error
            }
        }
    }

    /// Takes an app in and installs or updates it, where nobody shows it.
    ///
    /// - Parameters:
    ///   - notice: told what the user should know of how the app was taken in.
    ///   - progress: bytes copied, then bytes hashed.
    public func install(
        _ path: String, groups: [ContainerIdentifier] = [], iCloud: [ContainerIdentifier] = [],
        owner: ContainerOwner? = nil, demands: SealDemands = SealDemands(),
        notice: (String) -> Void = { _ in }, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> InstalledApp {
        let staged = try stage(
            path, demands: demands,
            admit: { (identifier) throws(Complaint) in try requireOwner(owner, of: identifier) }, progress: progress)
        defer { discard(staged) }
        let app = try install(staged, groups: groups, iCloud: iCloud, owner: owner)
        staged.notices.forEach(notice)
        return app
    }

    /// Whether an app can be installed for a user: an installed one stays whose it is.
    /// - Parameter owner: nil where nobody was named.
    /// - Throws: ``Complaint`` of kind `notAllowed`.
    public func requireOwner(
        _ owner: ContainerOwner?, of identifier: ContainerIdentifier
    ) throws(Complaint) {
        guard let owner else { return }
        if let present = apps.first(where: { $0.identifier == identifier }), present.owner != owner.user {
            throw Complaint(
                .notAllowed,
                "\(identifier) belongs to the user \(present.owner), and an update leaves it so; leave --owner out, or "
                    + "uninstall it first")
        }
        guard geteuid() == 0 || owner.user == geteuid() else {
            throw Complaint(.notAllowed, "only root can install an app for another user")
        }
    }

    func stageData(
        of identifier: ContainerIdentifier, as uuid: ContainerUUID, owner: ContainerOwner,
        in staged: inout StagedContainers
    ) throws(Complaint) {
        do throws(Fault) {
            let container = try onHost { () throws(SystemError) in
                try staged.make(.data, uuid, owner: owner)
            }
            try DataContainer.fill(container, app: identifier, uuid: uuid, owner: owner, context: stagingContext)
        } catch {
            throw Complaint(error, doing: "cannot make the data container of \(identifier)")
        }
        reached(.stagedData)
    }

    /// Finds the containers that are on the device, and stages those that are not.
    func stageShared(
        groups: [ContainerIdentifier], iCloud: [ContainerIdentifier], owner: ContainerOwner,
        in staged: inout StagedContainers
    ) throws(Complaint) -> (groups: [SharedContainerRecord], iCloud: [SharedContainerRecord]) {
        let present = apps
        var presentGroups = present.flatMap(\.groups)
        for identifier in groups {
            guard let waiting = registry.waiting(.group, identifier) else { continue }
            try adopt(waiting, for: owner)
            presentGroups.append(SharedContainerRecord(identifier: identifier, uuid: waiting.uuid))
        }
        do throws(SystemError) {
            let groups = try Device.share(groups, .group, presentGroups, owner, in: &staged)
            let iCloud = try Device.share(iCloud, .iCloud, present.flatMap(\.iCloud), owner, in: &staged)
            reached(.stagedShared)
            return (groups, iCloud)
        } catch {
            throw Complaint(error, doing: "cannot make a group or iCloud container")
        }
    }

    private static func share(
        _ wanted: [ContainerIdentifier], _ kind: ContainerKind, _ present: [SharedContainerRecord],
        _ owner: ContainerOwner,
        in staged: inout StagedContainers
    ) throws(SystemError) -> [SharedContainerRecord] {
        var shared: [SharedContainerRecord] = []
        for identifier in Set(wanted).sorted() {
            if let container = present.first(where: { $0.identifier == identifier }) {
                shared.append(container)
            } else {
                let container = SharedContainerRecord(identifier: identifier, uuid: ContainerUUID())
                _ = try staged.make(kind, container.uuid, owner: owner)
                shared.append(container)
            }
        }
        return shared
    }
}

extension InstalledApp {
    init(
        _ app: StagedApp, data: ContainerUUID, groups: [SharedContainerRecord], iCloud: [SharedContainerRecord],
        owner: ContainerOwner
    ) {
        let information = app.information
        self.init(
            identifier: information.identifier, bundleName: app.bundleName, displayName: information.displayName,
            version: information.version, build: information.build, executable: information.executable,
            sharesDocuments: information.sharesDocuments, bundle: app.container, data: data, groups: groups,
            iCloud: iCloud, owner: owner.user, ownerGroup: owner.group)
    }
}
