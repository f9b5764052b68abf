// Updating an installed app: another bundle, another UUID for the data container, and in it an empty `tmp` and new
// metadata. Everything is made ready and durable first; then the registry decides; the rest are renames, which the next
// boot carries out where an interruption kept them from being done (``ContainerUpdate``).

import BackingStore
import Glibc
import Platform
import SandboxModel

/// One update, from the staged bundle to the removal of what it replaces. Its owner changes apps, so that no other
/// operation is under way.
///
/// Until ``register(_:_:)`` has returned an update can be undone; from then on it is only finished.
struct AppUpdateTransaction: ~Copyable {
    private let device: BootedDevice
    /// The app as it was installed before.
    private let old: InstalledApp
    /// The new bundle, with its seal verified.
    private let app: StagedApp
    /// The data container on its way from its old UUID to its new one.
    private let data: ContainerUpdate
    private var staged: StagedContainers
    /// Bytes of the host that the new `tmp` and metadata take.
    private var newBytes: Int64 = 0
    /// Whether the data container may bear both its names.
    private var isNamedBoth = false

    private var doing: String { "cannot update \(old.identifier)" }

    init(of old: InstalledApp, to app: StagedApp, on device: BootedDevice) {
        self.device = device
        self.old = old
        self.app = app
        data = ContainerUpdate(from: old.data, to: ContainerUUID())
        staged = StagedContainers(device.directory)
        staged.take(.bundle, app.container)
    }

    /// Carries out the update.
    /// - Parameter presenting: called when all is ready; an error that it throws undoes the update.
    /// - Returns: the app as it is then.
    mutating func run(
        _ entitlements: AppEntitlements, _ changes: AppChanges,
        presenting: (AppUpdate) throws(Complaint) -> (any HomePresenter)?
    ) throws(Complaint) -> InstalledApp {
        let family: [InstalledApp]
        let presenter: (any HomePresenter)?
        let before = device.registry.places
        do throws(Complaint) {
            try stageData()
            family = try stageContainers(entitlements)
            try moveIntoPlace()
            presenter = try presenting(
                AppUpdate(old: old, new: family[0], extensions: Array(family.dropFirst()), data: try openData()))
            try nameBoth()
            try register(family, changes)
        } catch {
            try undo(after: error)
        }
        try exchange(presenter)
        // Counted once the new entries have their places: until then they lie in the staging directory.
        device.space.addNew(newBytes)
        presenter?.completeUpdate()
        countDropped(presenter)
        BundleRetirement(of: old.bundle, on: device).begin()
        retireExtensions(before)
        removeDropped()
        return family[0]
    }

    // MARK: Making ready

    /// An ordinary user owns what he makes, also on a device that was another's and was copied.
    private var maker: ContainerOwner { geteuid() == 0 ? old.containerOwner : .current }

    /// Makes the `tmp` and the metadata that take the place of the old ones.
    private mutating func stageData() throws(Complaint) {
        let (staging, space, data) = (device.staging, device.space, data)
        do throws(Fault) {
            // The class was given when the container was made, and stays.
            let protection = try onHost { () throws(SystemError) in
                try device.directory.container(.data, old.data).givenClass()
            }
            let content = DataContainer(
                app: old.identifier, uuid: data.new, owner: maker, device: device.directory.uuid, protection: protection
            )
            let coming = try onHost { () throws(SystemError) in try data.makeStage(in: try staging.open()) }
            try content.renew(coming, context: staging.context)
            newBytes = try onHost { () throws(SystemError) in try space.bytes(in: coming) }
        } catch {
            throw Complaint(error, doing: doing)
        }
        device.reached(.stagedData)
    }

    /// Makes the containers that the app is newly entitled to.
    /// - Returns: the app as it will be, and then its extensions.
    private mutating func stageContainers(_ entitlements: AppEntitlements) throws(Complaint) -> [InstalledApp] {
        var provision = ContainerProvision(device, owner: maker)
        var shared = try provision.stageShared(entitlements.missing(from: old), in: &staged)
        shared.groups = old.groups + shared.groups
        shared.iCloud = old.iCloud + shared.iCloud
        let extensions = try provision.stageExtensions(
            of: app, as: old.containerOwner, present: device.registry.extensions(of: old.identifier), in: &staged)
        return [InstalledApp(app, data: data.new, shared, owner: old.containerOwner)] + extensions
    }

    /// Gives the new bundle and the new containers their places, durably. No app is known by them yet.
    private borrowing func moveIntoPlace() throws(Complaint) {
        try device.space.requireSpace(for: device.space.stagedBytes(app.container.fileName), doing: doing)
        do throws(SystemError) {
            try staged.moveIntoPlace(device.reached)
        } catch {
            throw Complaint(error, doing: doing)
        }
    }

    /// - Throws: ``Complaint`` of kind `damaged` where the container is missing.
    private func openData() throws(Complaint) -> SharedDescriptor {
        do throws(SystemError) {
            return SharedDescriptor(try device.directory.container(.data, old.data))
        } catch {
            guard error == .noEntry || error == .notDirectory else {
                throw Complaint(error, doing: "cannot open the data container of \(old.identifier)")
            }
            throw Complaint(
                .damaged,
                "\(device.directory.path) lacks the data container of \(old.identifier); restore it from a copy of the "
                    + "device")
        }
    }

    // MARK: Deciding

    /// Gives the data container both its names, and lays the new content ready in it.
    private mutating func nameBoth() throws(Complaint) {
        do throws(SystemError) {
            let containers = try device.directory.containers(.data)
            try data.begin(in: containers)
            // Set after the rename, because the other steps of `data.undo` need the name `OLD+NEW`.
            isNamedBoth = true
            device.reached(.namedBoth)
            try data.layStage(from: try device.staging.open(), in: containers)
            device.reached(.laidReady)
        } catch {
            throw Complaint(error, doing: doing)
        }
    }

    /// The decision: from here on the app is the new one.
    private func register(_ family: [InstalledApp], _ changes: AppChanges) throws(Complaint) {
        try changes.register(family)
        device.reached(.registered)
    }

    /// Takes everything back, unless the registry was replaced in spite of the error: then the registry counts, and the
    /// next boot goes on from there.
    private func undo(after error: Complaint) throws(Complaint) -> Never {
        guard (try? device.directory.apps())?.contains(old) == true else { throw error }
        if isNamedBoth {
            try? data.undo(in: try device.directory.containers(.data), try device.staging.open())
        }
        for stage in [data.new, data.old] { device.staging.remove(stage.fileName) }
        staged.discard()
        throw error
    }

    // MARK: Finishing

    /// Puts the new content into place, and gives the data container its new name alone.
    private func exchange(_ presenter: (any HomePresenter)?) throws(Complaint) {
        let (data, reached) = (data, device.reached)
        do throws(SystemError) {
            let containers = try device.directory.containers(.data)
            let container = SharedDescriptor(try containers.openDirectory(data.name))
            let exchange: () throws(SystemError) -> Void = { () throws(SystemError) in
                try data.exchange(in: container.descriptor) { reached(.exchangedOne) }
            }
            if let presenter {
                try presenter.exchange(exchange)
            } else {
                try exchange()
            }
            try data.finish(in: containers, try device.staging.open()) { reached(.renamed) }
        } catch {
            throw Complaint(
                error,
                doing: "the update of \(old.identifier) is not finished; shut the device down, and its next start "
                    + "finishes it: cannot rename its data container")
        }
    }

    // MARK: Dropping

    /// Subtracts the dropped files. A file that has a name elsewhere stays counted, and one that is open until it is
    /// closed.
    private func countDropped(_ presenter: (any HomePresenter)?) {
        guard let dropped = try? data.dropped(in: try device.staging.open()) else { return }
        let walk = TreeWalk(SharedDescriptor(dropped))
        var total: Int64 = 0
        // Of files with several names: how many were found here.
        var names: [UInt64: UInt64] = [:]
        while let directory = walk.next() {
            guard let entries = try? directory.descriptor.entries() else { continue }
            while let entry = try? entries.next() {
                guard let status = try? directory.descriptor.status(of: entry.name) else { continue }
                if status.kind == .directory {
                    walk.add(entry.name)
                } else {
                    if status.linkCount > 1 {
                        names[status.inode, default: 0] += 1
                        guard names[status.inode] == status.linkCount else { continue }
                    }
                    if presenter?.recordRemoval(ofInode: status.inode) == true { continue }
                }
                // It may have been written to, and closed, since its status was read.
                let last = (try? directory.descriptor.status(of: entry.name)) ?? status
                total += device.space.bytes(last)
            }
        }
        device.space.add(-total)
    }

    /// Takes the containers away that only extensions had which the new app is without.
    /// - Parameter before: all containers before the update.
    private func retireExtensions(_ before: [(kind: ContainerKind, uuid: ContainerUUID)]) {
        let kept = device.registry.containers
        let gone = before.filter { !kept.contains($0.uuid) && $0.uuid != old.bundle && $0.uuid != old.data }
        guard !gone.isEmpty else { return }
        device.space.countGoing(gone)
        // One that cannot be moved is removed at the next boot.
        try? device.moveAway(gone)
    }

    private func removeDropped() {
        // A file that cannot be removed goes with the next removal, or at the next boot.
        try? device.staging.removeUnused()
        device.reached(.removed)
    }
}
