// A restore: every container of a backup is built aside, made durable, and given its place in the registry with all
// others at one moment. Until then nothing on the device has changed; after it nothing of the former content is left.

public import BackingStore
public import BackupModel
import DataProtection
import Glibc
import Platform
public import SandboxModel

/// The result of a restore.
public struct RestoreTally: Equatable, Sendable {
    /// Apps whose data was replaced.
    public internal(set) var apps: [ContainerIdentifier] = []
    /// Apps that are not installed: their data waits for that.
    public internal(set) var waiting: [ContainerIdentifier] = []
    /// Groups whose content was replaced, or waits for an app.
    public internal(set) var groups: [ContainerIdentifier] = []
    public internal(set) var files = 0
    /// Of their contents.
    public internal(set) var bytes: Int64 = 0
    /// Entries of a foreign backup that no container can have.
    public internal(set) var leftOut = 0
}

extension BootedDevice {
    /// Brings a backup's containers onto the device, in place of those that it has. `tmp` and `Library/Caches` are
    /// empty then, iCloud containers stay. Each file has a new key.
    ///
    /// - Parameters:
    ///   - source: gives the domains that are wanted, and no others.
    ///   - apps: those that the caller has seen to: they are not mounted, and are not going to be meanwhile.
    ///   - password: the backup password of the device that made the backup, for its ciphertext; nil for none.
    ///   - progress: bytes restored.
    /// - Throws: ``Complaint`` of kind `invalidBackup`, `otherDevice`, `passwordNeeded` or `wrongPassword` for
    ///   ciphertext that is not this device's, `deviceLocked` where a class is closed, `noSpace`, and what the source
    ///   throws. The device is as it was then.
    public func restore(
        from source: inout some BackupSource, replacing apps: Set<ContainerIdentifier>, password: [UInt8]? = nil,
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> RestoreTally {
        try installedApps.changing { (changes) throws(Complaint) in
            var restore = RestoreTransaction(
                on: self, try SealedEntryKeys(of: self, keybag: source.passwordKeybag, password: password))
            return try restore.run(from: &source, replacing: apps, changes, progress: progress)
        }
    }
}

/// One restore. Its owner changes apps, so that no other operation is under way.
private struct RestoreTransaction: ~Copyable {
    private let device: BootedDevice
    private var staged: StagedContainers
    /// The containers that are built.
    private var containers: [RestoredContainer] = []
    private var tally = RestoreTally()
    private let sealedKeys: SealedEntryKeys

    init(on device: BootedDevice, _ sealedKeys: SealedEntryKeys) {
        self.device = device
        self.sealedKeys = sealedKeys
        staged = StagedContainers(device.directory)
    }

    /// - Parameter held: the apps whose containers may be replaced.
    /// - Throws: as ``BootedDevice/restore(from:replacing:progress:)``. Once the registry has changed, an error means
    ///   only that replaced containers could not be removed; what was restored stays.
    mutating func run(
        from source: inout some BackupSource, replacing held: Set<ContainerIdentifier>, _ changes: AppChanges,
        progress: (DeviceProgress) -> Bool
    ) throws(Complaint) -> RestoreTally {
        do throws(Complaint) {
            try stage(from: &source, progress: progress)
            guard !containers.isEmpty else {
                throw Complaint(.notFound, "the backup has nothing of what was asked for")
            }
            try requireHeld(held)
            try requireSpace()
            try moveIntoPlace()
            try changes.replace(with: device.registry.placing(containers))
            device.reached(.registered)
            try removeReplaced()
            return tally
        } catch {
            // Where the registry was replaced in spite of the error, it counts.
            staged.discard(keeping: device.registry.containers)
            throw error
        }
    }

    // MARK: Building

    /// Builds all containers in the staging directory.
    private mutating func stage(
        from source: inout some BackupSource, progress: (DeviceProgress) -> Bool
    ) throws(Complaint) {
        var building: ContainerRestore?
        var domain: BackupDomain?
        var bytes: Int64 = 0
        while let entry = try source.next() {
            // For each entry: a backup may have a million of them without content.
            guard progress(DeviceProgress(unit: .bytes, completed: bytes, total: nil)) else {
                throw Complaint.cancelled
            }
            if entry.domain != domain {
                if var container = building.take() { try end(&container) }
                domain = entry.domain
                building = try begin(entry.domain, source.apps)
            }
            guard var container = building.take() else {
                tally.leftOut += 1
                continue
            }
            let keys = try sealedKeys.keys(of: entry)
            if let file = try container.add(entry, keys) {
                let doing = "cannot restore \(entry.path.text)"
                try source.read { (piece, offset) throws(Complaint) in
                    try file.write(piece, at: offset, doing: doing)
                    bytes += Int64(piece.byteCount)
                    guard progress(DeviceProgress(unit: .bytes, completed: bytes, total: nil)) else {
                        throw Complaint.cancelled
                    }
                }
                try container.finish(file) {
                    progress(DeviceProgress(unit: .bytes, completed: bytes, total: nil))
                }
            }
            building = consume container
        }
        if var container = building.take() { try end(&container) }
        try source.verifyEnd()
    }

    /// - Returns: nil for a domain that no container can be of.
    private mutating func begin(
        _ domain: BackupDomain, _ apps: [BackupApp]
    ) throws(Complaint) -> ContainerRestore? {
        let (kind, identifier): (ContainerKind, ContainerIdentifier)
        switch domain {
        case .app(let app), .plugin(let app): (kind, identifier) = (.data, app)
        case .group(let group): (kind, identifier) = (.group, group)
        case .other: return nil
        }
        // The second container of an identifier would replace the first.
        guard !containers.contains(where: { $0.kind == kind && $0.identifier == identifier }) else {
            throw Complaint(.invalidBackup, "\(domain.name) is in two places of the backup")
        }
        let former = apps.first { kind == .data ? $0.identifier == identifier : $0.groups.contains(identifier) }
        let isExtension = if case .plugin = domain { true } else { false }
        let place = RestoredContainer(
            kind: kind, identifier: identifier, isExtension: isExtension, owner: owner(of: kind, identifier),
            device: device.directory.uuid,
            groups: kind == .data ? former?.groups ?? [] : [])
        return try ContainerRestore(place, former: former, context: device.staging.context, in: &staged)
    }

    /// The owner of a container: that of the installed app that has it, or the user of this process.
    private func owner(of kind: ContainerKind, _ identifier: ContainerIdentifier) -> ContainerOwner {
        let app = device.apps.first { app in
            kind == .data
                ? app.identifier == identifier : app.groups.contains { $0.identifier == identifier }
        }
        guard let app, geteuid() == 0 else { return .current }
        return app.containerOwner
    }

    /// Ends a container, and adds it to the tally. From here on it is one of ``containers``, with a place to come.
    private mutating func end(_ container: inout ContainerRestore) throws(Complaint) {
        try container.finish()
        tally.files += container.files
        tally.bytes += container.bytes
        tally.leftOut += container.leftOut
        let place = container.place
        switch place.kind {
        case .data where device.installedApps.installed(place.identifier) != nil: tally.apps.append(place.identifier)
        case .data: tally.waiting.append(place.identifier)
        case .group, .iCloud, .bundle: tally.groups.append(place.identifier)
        }
        containers.append(place)
    }

    // MARK: Conditions

    /// - Throws: ``Complaint`` of kind `inUse` for an app that was installed, or entitled to a group, meanwhile.
    private func requireHeld(_ held: Set<ContainerIdentifier>) throws(Complaint) {
        let registry = device.registry
        let changed = zip(registry.apps, registry.placing(containers).apps).filter { $0 != $1 }
        if let (app, _) = changed.first(where: { !held.contains($0.0.identifier) }) {
            throw Complaint(.inUse, "\(app.identifier) came to have what is restored meanwhile; try again")
        }
    }

    /// - Throws: ``Complaint`` of kind `noSpace` where the device's capacity does not hold the new containers in place
    ///   of the old ones.
    private func requireSpace() throws(Complaint) {
        guard device.space.isBounded else { return }
        let registry = device.registry
        let after = registry.placing(containers).containers
        let going = registry.places.filter { !after.contains($0.uuid) }.reduce(Int64(0)) { sum, place in
            sum + device.space.bytes(of: place.kind, place.uuid)
        }
        let coming = containers.reduce(Int64(0)) { $0 + device.space.stagedBytes($1.uuid.fileName) }
        try device.space.requireSpace(for: coming - going, doing: "cannot restore")
    }

    // MARK: Replacing

    /// Gives all containers their places, durably. No app is known by them yet.
    private borrowing func moveIntoPlace() throws(Complaint) {
        do throws(SystemError) {
            try staged.moveIntoPlace(device.reached)
        } catch {
            throw Complaint(error, doing: "cannot restore")
        }
    }

    /// Removes the containers that no app has any more.
    private func removeReplaced() throws(Complaint) {
        let device = device
        device.reached(.unregistered)
        let known = device.registry.containers
        try Complaint.wrap("what was restored is in place, but what was there before cannot be removed") {
            () throws(SystemError) in
            let staging = try device.staging.open()
            for kind in [ContainerKind.data, .group] {
                let containers = try device.directory.containers(kind)
                let replaced = try containers.names { name in
                    ContainerUUID(name.text).map { !known.contains($0) } ?? false
                }
                for name in replaced { try containers.rename(name, to: name, in: staging) }
            }
            device.reached(.movedAway)
            try device.staging.removeUnused()
            device.reached(.removed)
        }
    }
}
