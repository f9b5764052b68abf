// The containers that an app gets: its data container, group and iCloud containers that others have already, and those
// that a restore brought and that wait for it.

import BackingStore
import Platform
import SandboxModel

/// Provides an app with containers, within an operation that changes apps.
struct ContainerProvision {
    /// The group and iCloud containers of an app.
    struct Shared {
        var groups: [SharedContainerRecord]
        var iCloud: [SharedContainerRecord]

        var isEmpty: Bool { groups.isEmpty && iCloud.isEmpty }
    }

    private let device: BootedDevice
    /// The user of new containers.
    private let owner: ContainerOwner
    /// Those that this operation has made or adopted: an app and its extensions get one for each identifier.
    private var provided = Shared(groups: [], iCloud: [])

    init(_ device: BootedDevice, owner: ContainerOwner) {
        self.device = device
        self.owner = owner
    }

    // MARK: New containers

    /// The data container of an app or extension that is being installed: one that a restore brought, or a new one in
    /// the staging directory.
    /// - Throws: ``Complaint`` with the host's error, such as `noSpace`. The caller discards `staged`.
    func stageData(
        of app: ContainerIdentifier, _ signature: AppSignature, isExtension: Bool = false,
        in staged: inout StagedContainers
    ) throws(Complaint) -> ContainerUUID {
        // Data that a restore brought keeps its UUID: the registry names it already.
        if let waiting = device.registry.waiting(.data, app) {
            try adopt(waiting)
            return waiting.uuid
        }
        let uuid = ContainerUUID()
        do throws(Fault) {
            let container = try onHost { () throws(SystemError) in
                try staged.make(.data, uuid, owner: owner)
            }
            let data = DataContainer(
                app: app, uuid: uuid, owner: owner, device: device.directory.uuid, isExtension: isExtension,
                protection: signature.defaultProtection)
            try data.fill(container, context: device.staging.context)
        } catch {
            throw Complaint(error, doing: "cannot make the data container of \(app)")
        }
        device.reached(.stagedData)
        return uuid
    }

    /// Finds the containers that are on the device, and makes the others in the staging directory.
    /// - Throws: ``Complaint`` with the host's error. The caller discards `staged`.
    mutating func stageShared(
        _ entitlements: AppEntitlements, in staged: inout StagedContainers
    ) throws(Complaint) -> Shared {
        let registry = device.registry
        var presentGroups = registry.apps.flatMap(\.groups) + provided.groups
        for identifier in entitlements.groups {
            guard let waiting = registry.waiting(.group, identifier) else { continue }
            try adopt(waiting)
            presentGroups.append(SharedContainerRecord(identifier: identifier, uuid: waiting.uuid))
        }
        do throws(SystemError) {
            let shared = Shared(
                groups: try share(entitlements.groups, .group, presentGroups, in: &staged),
                iCloud: try share(
                    entitlements.iCloud, .iCloud, registry.apps.flatMap(\.iCloud) + provided.iCloud, in: &staged))
            provided.groups += shared.groups
            provided.iCloud += shared.iCloud
            device.reached(.stagedShared)
            return shared
        } catch {
            throw Complaint(error, doing: "cannot make a group or iCloud container")
        }
    }

    /// One kind of shared containers: those that are present, and new ones for the others, sorted by identifier.
    private func share(
        _ wanted: [ContainerIdentifier], _ kind: ContainerKind, _ present: [SharedContainerRecord],
        in staged: inout StagedContainers
    ) throws(SystemError) -> [SharedContainerRecord] {
        var shared: [SharedContainerRecord] = []
        for identifier in Set(wanted).sorted() {
            if let container = present.first(where: { $0.identifier == identifier }) {
                shared.append(container)
            } else {
                let container = SharedContainerRecord(identifier: identifier, uuid: ContainerUUID())
                let directory = try staged.make(kind, container.uuid, owner: owner)
                if kind == .group { try GroupContainer.fill(directory, for: owner) }
                shared.append(container)
            }
        }
        return shared
    }

    // MARK: Waiting containers

    /// Gives a waiting container to the user of the app that is being installed. It becomes the app's with the registry
    /// alone; this step can be repeated. Only root can give files to a user.
    func adopt(_ container: WaitingContainer) throws(Complaint) {
        let former = ContainerOwner(user: container.owner, group: container.ownerGroup)
        guard former != owner, ContainerOwner.current.user == 0 else { return }
        try Complaint.wrap("cannot give \(container.identifier) what was restored for it") { () throws(SystemError) in
            let tree = try device.directory.container(container.kind, container.uuid)
            try device.directory.containers(container.kind).give(container.uuid.fileName, to: owner)
            try give(tree, of: former)
        }
    }

    /// Gives all files in a tree that belong to one user to the owner.
    private func give(_ tree: borrowing Descriptor, of former: ContainerOwner) throws(SystemError) {
        let walk = try TreeWalk(tree)
        var failure: SystemError?
        while let directory = walk.next(failed: { error, _ in failure = error }) {
            let entries = try directory.descriptor.entries()
            while let entry = try entries.next() {
                let status = try directory.descriptor.status(of: entry.name)
                if status.kind == .directory { walk.add(entry.name) }
                guard status.owner == former.user else { continue }
                try directory.descriptor.give(entry.name, to: owner)
                // A change of the owner clears the set-user-ID and set-group-ID bits, which no file has here
                // (`NodeModes`).
                guard status.kind != .symbolicLink, status.kind != .file, status.permissions & 0o6000 != 0 else {
                    continue
                }
                try directory.descriptor.changeMode(of: entry.name, to: status.permissions)
            }
        }
        if let failure { throw failure }
    }
}
