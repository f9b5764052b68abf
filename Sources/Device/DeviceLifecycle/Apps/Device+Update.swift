// Updating an installed app: another bundle, another UUID for the data container, and in it an empty `tmp` and new metadata.
// Everything is laid ready and made durable first; then the registry decides; what is left are renames, which the next
// boot makes where an interruption kept them from being made (``ContainerUpdate``).

public import BackingStore
import Dispatch
import Glibc
public import Platform
public import SandboxModel

/// An update that is ready to be decided on.
public struct AppUpdate: Sendable {
    /// The app as it is, and as it will be.
    public let old, new: InstalledApp
    /// The data container: the directory stays the same one.
    public let data: SharedDescriptor
}

/// Whoever shows an app's home while the app is updated.
public protocol HomePresenter {
    /// Has entries of the home's top level exchanged, at a moment at which nobody looks for a name, and shows the new
    /// home from then on.
    func exchange(_ body: () throws(SystemError) -> Void) throws(SystemError)
    /// Called when the update is done, before what it dropped is removed.
    func settle()
    /// Called after ``settle()`` for each file of what was dropped that has no name elsewhere.
    /// - Returns: whether it is open, and will be counted for nothing when it is closed.
    func noteRemoval(ofInode inode: UInt64) -> Bool
}

extension Device {
    func update(
        _ old: InstalledApp, to app: StagedApp, _ groups: [ContainerIdentifier], _ iCloud: [ContainerIdentifier],
        _ presenting: (AppUpdate) throws(Complaint) -> (any HomePresenter)?, _ changes: AppChanges
    ) throws(Complaint) -> InstalledApp {
        let doing = "cannot update \(old.identifier)"
        let update = ContainerUpdate(from: old.data, to: ContainerUUID())
        let owner = ContainerOwner(user: old.owner, group: old.ownerGroup)
        // What an ordinary user makes is his own, also on a device that was another's and was copied.
        let maker = geteuid() == 0 ? owner : .current
        var staged = StagedContainers(directory)
        staged.take(.bundle, app.container)
        var fresh: Int64 = 0
        var hasBegun = false
        let new: InstalledApp
        let presenter: (any HomePresenter)?
        do throws(Complaint) {
            try Complaint.wrapFault(doing) { () throws(Fault) in
                let coming = try onHost { () throws(SystemError) in
                    try update.makeStage(in: try directory.staging())
                }
                try DataContainer.renew(
                    coming, app: old.identifier, uuid: update.new, owner: maker, context: stagingContext)
                fresh = try onHost { () throws(SystemError) in try bytes(in: coming) }
            }
            reached(.stagedData)
            let shared = try stageShared(
                groups: groups.filter { id in !old.groups.contains { $0.identifier == id } },
                iCloud: iCloud.filter { id in !old.iCloud.contains { $0.identifier == id } }, owner: maker,
                in: &staged)
            new = InstalledApp(
                app, data: update.new, groups: old.groups + shared.groups, iCloud: old.iCloud + shared.iCloud,
                owner: owner)
            try requireRoom(for: stagedBytes(app.container.fileName), doing: doing)
            try Complaint.wrap(doing) { () throws(SystemError) in
                try staged.moveIntoPlace(reached)
            }
            presenter = try presenting(AppUpdate(old: old, new: new, data: try dataContainer(of: old)))
            try Complaint.wrap(doing) { () throws(SystemError) in
                let containers = try directory.containers(.data)
                try update.begin(in: containers)
                hasBegun = true
                reached(.namedBoth)
                try update.layStage(from: try directory.staging(), in: containers)
                reached(.laidReady)
            }
            try changes.register(new)
            reached(.registered)
        } catch {
            // Where the registry was replaced all the same, it is what counts, and the next boot goes on from there.
            guard (try? directory.apps())?.contains(old) == true else { throw error }
            if hasBegun {
                try? update.undo(in: try directory.containers(.data), try directory.staging())
            }
            for stage in [update.new, update.old] { _ = try? directory.staging().removeTree(stage.fileName) }
            staged.discard()
            throw error
        }
        do throws(SystemError) {
            try finish(update, presenter)
        } catch {
            throw Complaint(
                error,
                doing: "the update of \(old.identifier) is not finished; shut the device down, and its next start "
                    + "finishes it: cannot rename its data container")
        }
        context.space.add(fresh)
        presenter?.settle()
        countDropped(update, presenter)
        retire(old.bundle)
        removeDropped()
        return new
    }

    private func dataContainer(of app: InstalledApp) throws(Complaint) -> SharedDescriptor {
        do throws(SystemError) {
            return SharedDescriptor(try directory.container(.data, app.data))
        } catch {
            guard error == .noEntry || error == .notDirectory else {
                throw Complaint(error, doing: "cannot open the data container of \(app.identifier)")
            }
            throw Complaint(
                .damaged,
                "\(directory.path) lacks the data container of \(app.identifier); restore it from a copy of the device")
        }
    }

    private func finish(_ update: ContainerUpdate, _ presenter: (any HomePresenter)?) throws(SystemError) {
        let containers = try directory.containers(.data)
        let container = SharedDescriptor(try containers.openDirectory(update.name))
        let exchange: () throws(SystemError) -> Void = { () throws(SystemError) in
            try update.exchange(in: container.descriptor) { self.reached(.exchangedOne) }
        }
        if let presenter {
            try presenter.exchange(exchange)
        } else {
            try exchange()
        }
        try update.finish(in: containers, try directory.staging()) { reached(.renamed) }
    }

    // MARK: What is not needed any more

    /// Takes a bundle that was replaced out of sight. It is removed when nobody reads it any more: descriptors that are
    /// open in it, and directories that somebody is in, work until then.
    private func retire(_ bundle: ContainerUUID) {
        countGoing([(.bundle, bundle)])
        let use = stagingUse.presentUse(of: bundle)
        if use != nil { stagingUse.keep(bundle) }
        // Where it is not there, or cannot be moved, there is nothing to do that the next boot would not do.
        try? directory.containers(.bundle).rename(bundle.fileName, to: bundle.fileName, in: directory.staging())
        reached(.retiredBundle)
        use?.whenUnused { [weak self] in
            guard let device = self else { return }
            DispatchQueue.global().async { device.removeRetired(bundle) }
        }
    }

    private func removeRetired(_ bundle: ContainerUUID) {
        try? changing { (_) throws(Complaint) in
            stagingUse.letGo(of: bundle)
            // Another process may have the device by now.
            guard !hasEnded else { return }
            _ = try? directory.staging().removeTree(bundle.fileName)
        }
    }

    /// What the entries of a directory take.
    private func bytes(in directory: borrowing Descriptor) throws(SystemError) -> Int64 {
        var total: Int64 = 0
        for name in try directory.names(where: { _ in true }) { total += try stagedBytes(name, in: directory) }
        return total
    }

    /// Counts what an update has dropped, but for what has a name elsewhere and what is open, which is counted when it is
    /// closed.
    private func countDropped(_ update: ContainerUpdate, _ presenter: (any HomePresenter)?) {
        var pending: [[FileName]] = [[]]
        var total: Int64 = 0
        // How many names of a file with several have been come to.
        var names: [UInt64: UInt64] = [:]
        guard let dropped = try? update.dropped(in: try directory.staging()) else { return }
        while let path = pending.popLast() {
            guard let directory = try? dropped.openDirectory(at: path), let entries = try? directory.entries() else {
                continue
            }
            while let entry = try? entries.next() {
                guard let status = try? directory.status(of: entry.name) else { continue }
                if status.kind == .directory {
                    pending.append(path + [entry.name])
                } else {
                    if status.linkCount > 1 {
                        names[status.inode, default: 0] += 1
                        guard names[status.inode] == status.linkCount else { continue }
                    }
                    if presenter?.noteRemoval(ofInode: status.inode) == true { continue }
                }
                // It may have been written to, and closed, since it was looked at.
                let last = (try? directory.status(of: entry.name)) ?? status
                total += context.space.weights.bytes(last)
            }
        }
        context.space.add(-total)
        context.space.disturbCount()
    }

    private func removeDropped() {
        // What stays is removed with the next that is removed, or at the next boot.
        _ = try? directory.emptyStaging(keeping: stagingUse.names)
        reached(.removed)
    }
}
