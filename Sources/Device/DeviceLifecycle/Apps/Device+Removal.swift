// Uninstalling and resetting: the registry or one exchange of names decides, then what is no longer needed is removed.

public import BackingStore
import Glibc
import Platform
public import SandboxModel

extension Device {
    /// Removes an app and its containers; a group or iCloud container goes with the last app that has it. Of an app that
    /// is not installed, or of a group, what a restore has brought and waits for it.
    ///
    /// The app is not mounted: the caller has seen to it. Once it is out of the registry it is gone; what a
    /// cancelled or interrupted removal leaves is removed at the next boot.
    ///
    /// - Parameter progress: files removed.
    /// - Throws: ``Complaint`` of kind `unknownApp`.
    public func uninstall(
        _ identifier: ContainerIdentifier, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        try changing { (changes) throws(Complaint) in
            let before = registry.places
            let remaining = registry.discarding(identifier)
            if remaining == registry || apps.contains(where: { $0.identifier == identifier }) {
                try changes.unregister(try app(identifier))
            } else {
                try changes.replace(with: remaining)
            }
            reached(.unregistered)
            let kept = registry.containers
            try Complaint.wrap("cannot remove the containers of \(identifier)") { () throws(SystemError) in
                let staging = try directory.staging()
                for (kind, uuid) in before where !kept.contains(uuid) {
                    do throws(SystemError) {
                        try directory.containers(kind).rename(uuid.fileName, to: uuid.fileName, in: staging)
                    } catch {
                        // Somebody removed it by hand: that was what was wanted.
                        guard error == .noEntry else { throw error }
                    }
                }
                reached(.movedAway)
                try directory.emptyStaging(keeping: stagingUse.names, progress: progress)
                reached(.removed)
            }
        }
    }

    /// Empties an app's data container to what it was after the installation. Group and iCloud containers stay.
    ///
    /// The app is not mounted: the caller has seen to it. Killed at any point, all of the old content is there, or
    /// none.
    public func reset(
        _ identifier: ContainerIdentifier, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        try changing { (_) throws(Complaint) in
            let app = try app(identifier)
            let owner = ContainerOwner(user: app.owner, group: app.ownerGroup)
            let doing = "cannot reset \(identifier)"
            let fresh = ContainerUUID().fileName
            let staging = try Complaint.wrap(doing) { () throws(SystemError) in try directory.staging() }
            do throws(Complaint) {
                let container = try Complaint.wrap(doing) { () throws(SystemError) in
                    try staging.makeDirectory(fresh, for: owner)
                    return try staging.openDirectory(fresh)
                }
                try Complaint.wrapFault(doing) { () throws(Fault) in
                    try DataContainer.fill(
                        container, app: identifier, uuid: app.data, owner: owner, context: stagingContext)
                }
                try Complaint.wrap(doing) { () throws(SystemError) in
                    try directory.root.synchronizeFilesystem()
                    reached(.stagedReset)
                    let containers = try directory.containers(.data)
                    try staging.rename(fresh, to: app.data.fileName, in: containers, mode: .exchanging)
                    try containers.synchronizeEntries()
                    countComing(try containers.openDirectory(app.data.fileName))
                    countGoing([SharedDescriptor(try staging.openDirectory(fresh))])
                }
            } catch {
                _ = try? staging.removeTree(fresh)
                throw error
            }
            reached(.exchanged)
            try Complaint.wrap("cannot remove the old content of \(identifier)") { () throws(SystemError) in
                _ = try directory.emptyStaging(keeping: stagingUse.names, progress: progress)
            }
        }
    }

    /// Entitles an installed app to further containers; those that it has already stay as they are.
    public func entitle(
        _ identifier: ContainerIdentifier, groups: [ContainerIdentifier] = [], iCloud: [ContainerIdentifier] = []
    ) throws(Complaint) -> InstalledApp {
        try changing { (changes) throws(Complaint) in
            var app = try app(identifier)
            let owner = ContainerOwner(user: app.owner, group: app.ownerGroup)
            var staged = StagedContainers(directory)
            do throws(Complaint) {
                let shared = try stageShared(
                    groups: groups.filter { id in !app.groups.contains { $0.identifier == id } },
                    iCloud: iCloud.filter { id in !app.iCloud.contains { $0.identifier == id } },
                    owner: owner, in: &staged)
                guard !shared.groups.isEmpty || !shared.iCloud.isEmpty else { return app }
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
