// Restoring: every container of a backup is built up aside, made durable, and given its place in the registry with all others
// at one moment. Until then nothing on the device has changed; after it nothing of what was there is left.

public import BackingStore
public import BackupModel
import Glibc
import Platform
public import SandboxModel

/// What a restore brought.
public struct RestoreTally: Equatable, Sendable {
    /// Apps whose data was replaced.
    public internal(set) var apps: [ContainerIdentifier] = []
    /// Apps that are not installed: their data waits for that.
    public internal(set) var waiting: [ContainerIdentifier] = []
    public internal(set) var groups: [ContainerIdentifier] = []
    public internal(set) var files = 0
    /// Of their contents.
    public internal(set) var bytes: Int64 = 0
    /// Entries of a foreign backup that no container can have.
    public internal(set) var leftOut = 0
}

extension Device {
    /// Brings a backup's containers onto the device, in place of those that it has. `tmp` and `Library/Caches` are empty
    /// then, iCloud containers stay. Each file has a new key.
    ///
    /// - Parameters:
    ///   - source: gives the domains that are wanted, and no others.
    ///   - apps: those that the caller has seen to: they are not mounted, and are not going to be meanwhile.
    ///   - progress: bytes restored.
    /// - Throws: ``Complaint`` of kind `invalidBackup`, `otherDevice` for ciphertext that is not this device's,
    ///   `deviceLocked` where a class is closed, `noSpace`, and what the source throws. The device is as it was then.
    public func restore(
        from source: inout some BackupSource, replacing apps: Set<ContainerIdentifier>,
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> RestoreTally {
        try changing { (changes) throws(Complaint) in
            var staged = StagedContainers(directory)
            do throws(Complaint) {
                let (containers, tally) = try stage(from: &source, in: &staged, progress: progress)
                guard !containers.isEmpty else {
                    throw Complaint(.notFound, "the backup has nothing of what was asked for")
                }
                try requireHeld(containers, apps)
                try requireRoom(for: containers)
                try Complaint.wrap("cannot restore") { () throws(SystemError) in
                    try staged.moveIntoPlace(reached)
                }
                try changes.replace(with: registry.placing(containers))
                reached(.registered)
                try removeReplaced()
                return tally
            } catch {
                // Where the registry was replaced all the same, it is what counts.
                staged.discard(keeping: registry.containers)
                throw error
            }
        }
    }

    /// A container that was built up.
    struct Restored {
        let kind: ContainerKind
        let identifier: ContainerIdentifier
        let uuid: ContainerUUID
        let owner: ContainerOwner
        /// Those of its app, where the backup says.
        let groups: [ContainerIdentifier]
    }

    private func stage(
        from source: inout some BackupSource, in staged: inout StagedContainers, progress: (DeviceProgress) -> Bool
    ) throws(Complaint) -> ([Restored], RestoreTally) {
        var done: [Restored] = []
        var tally = RestoreTally()
        var building: RestoredContainer?
        var domain: BackupDomain?
        var bytes: Int64 = 0
        while let entry = try source.next() {
            // Also where there are a million of them without content.
            guard progress(DeviceProgress(unit: .bytes, completed: bytes, total: nil)) else {
                throw Complaint.cancelled
            }
            if entry.domain != domain {
                if var container = building.take() { done.append(try end(&container, source.apps, into: &tally)) }
                domain = entry.domain
                building = try begin(entry.domain, source.apps, done, in: &staged)
            }
            guard var container = building.take() else {
                tally.leftOut += 1
                continue
            }
            try requireOwnKeys(entry)
            if let file = try container.add(entry) {
                let doing = "cannot restore \(entry.path.text)"
                try source.read { (piece, offset) throws(Complaint) in
                    try file.write(piece, at: offset, doing: doing)
                    bytes += Int64(piece.byteCount)
                    guard progress(DeviceProgress(unit: .bytes, completed: bytes, total: nil)) else {
                        throw Complaint.cancelled
                    }
                }
                try container.finish(file)
            }
            building = consume container
        }
        if var container = building.take() { done.append(try end(&container, source.apps, into: &tally)) }
        try source.verifyEnd()
        return (done, tally)
    }

    private func begin(
        _ domain: BackupDomain, _ apps: [BackupApp], _ done: [Restored], in staged: inout StagedContainers
    ) throws(Complaint) -> RestoredContainer? {
        let (kind, identifier): (ContainerKind, ContainerIdentifier)
        switch domain {
        case .app(let app): (kind, identifier) = (.data, app)
        case .group(let group): (kind, identifier) = (.group, group)
        case .other: return nil
        }
        guard !done.contains(where: { $0.kind == kind && $0.identifier == identifier }) else {
            throw Complaint(.invalidBackup, "\(domain.name) is in two places of the backup")
        }
        let former = apps.first { kind == .data ? $0.identifier == identifier : $0.groups.contains(identifier) }
        return try RestoredContainer(
            kind, identifier, owner: owner(of: kind, identifier), former: former, on: self, in: &staged)
    }

    /// Whose a container is to be: the installed app's that has it, or whoever serves the device.
    private func owner(of kind: ContainerKind, _ identifier: ContainerIdentifier) -> ContainerOwner {
        let app = apps.first { app in
            kind == .data
                ? app.identifier == identifier : app.groups.contains { $0.identifier == identifier }
        }
        guard let app, geteuid() == 0 else { return .current }
        return ContainerOwner(user: app.owner, group: app.ownerGroup)
    }

    private func end(
        _ container: inout RestoredContainer, _ apps: [BackupApp], into tally: inout RestoreTally
    ) throws(Complaint) -> Restored {
        try container.finish()
        tally.files += container.files
        tally.bytes += container.bytes
        tally.leftOut += container.leftOut
        let isInstalled = self.apps.contains { $0.identifier == container.identifier }
        switch container.kind {
        case .data where isInstalled: tally.apps.append(container.identifier)
        case .data: tally.waiting.append(container.identifier)
        case .group, .iCloud, .bundle: tally.groups.append(container.identifier)
        }
        let former = container.kind == .data ? apps.first { $0.identifier == container.identifier } : nil
        return Restored(
            kind: container.kind, identifier: container.identifier, uuid: container.uuid, owner: container.owner,
            groups: former?.groups ?? [])
    }

    private func requireOwnKeys(_ entry: BackupEntry) throws(Complaint) {
        guard case .file(.sealed(_, let keybag)) = entry.kind, keybag != keybagIdentifier else { return }
        throw Complaint(
            .otherDevice,
            "\(entry.domain.name)/\(entry.path.text) is in the backup as ciphertext, because the device was locked, and only "
                + "that device can read it; restore onto it, or back it up again while it is unlocked")
    }

    /// - Throws: ``Complaint`` of kind `inUse` for an app that was installed, or entitled to a group, meanwhile.
    private func requireHeld(
        _ containers: [Restored], _ held: Set<ContainerIdentifier>
    ) throws(Complaint) {
        let changed = zip(registry.apps, registry.placing(containers).apps).filter { $0 != $1 }
        if let (app, _) = changed.first(where: { !held.contains($0.0.identifier) }) {
            throw Complaint(.inUse, "\(app.identifier) came to have what is restored meanwhile; try again")
        }
    }

    /// - Throws: ``Complaint`` of kind `noSpace` where the device's capacity does not hold what came in place of what goes.
    private func requireRoom(for containers: [Restored]) throws(Complaint) {
        guard context.space.capacity != nil else { return }
        let after = registry.placing(containers).containers
        let going = registry.places.filter { !after.contains($0.uuid) }.reduce(Int64(0)) { sum, place in
            guard let container = try? directory.container(place.kind, place.uuid) else { return sum }
            return sum + ((try? context.space.bytes(below: container)) ?? 0)
        }
        let coming = containers.reduce(Int64(0)) { $0 + stagedBytes($1.uuid.fileName) }
        try requireRoom(for: coming - going, doing: "cannot restore")
    }

    private func removeReplaced() throws(Complaint) {
        reached(.unregistered)
        let known = registry.containers
        try Complaint.wrap("what was restored is in place, but what was there before cannot be removed") {
            () throws(SystemError) in
            let staging = try directory.staging()
            for kind in [ContainerKind.data, .group] {
                let containers = try directory.containers(kind)
                let replaced = try containers.names { name in
                    ContainerUUID(name.text).map { !known.contains($0) } ?? false
                }
                for name in replaced { try containers.rename(name, to: name, in: staging) }
            }
            reached(.movedAway)
            try directory.emptyStaging(keeping: stagingUse.names)
            reached(.removed)
        }
    }
}

extension AppRegistry {
    /// The registry with restored containers in place of those that it has.
    func placing(_ restored: [Device.Restored]) -> AppRegistry {
        var registry = self
        for container in restored {
            registry.waiting.removeAll { $0.kind == container.kind && $0.identifier == container.identifier }
            var isTaken = false
            registry.apps = registry.apps.map { app in
                guard let changed = app.having(container) else { return app }
                isTaken = true
                return changed
            }
            if !isTaken {
                registry.waiting.append(
                    WaitingContainer(
                        kind: container.kind, identifier: container.identifier, uuid: container.uuid,
                        owner: container.owner.user, ownerGroup: container.owner.group, groups: container.groups))
            }
        }
        return registry
    }
}

extension InstalledApp {
    /// The app with a container in place of the one that it has; nil where it has none such.
    fileprivate func having(_ container: Device.Restored) -> InstalledApp? {
        var app = self
        switch container.kind {
        case .data where identifier == container.identifier: app.data = container.uuid
        case .group:
            guard let index = groups.firstIndex(where: { $0.identifier == container.identifier }) else { return nil }
            app.groups[index] = SharedContainerRecord(identifier: container.identifier, uuid: container.uuid)
        case .data, .bundle, .iCloud: return nil
        }
        return app
    }
}
