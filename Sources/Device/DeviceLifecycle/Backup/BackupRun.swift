// One backup: each container is walked in order, and each thing in it handed to the sink that writes the backup.

public import BackingStore
public import BackupModel
import DataProtection
import Glibc
import Platform
public import SandboxModel

extension BootedDevice {
    /// The apps that a backup has; those whose data waits for them are among them.
    /// - Parameter app: one of them, with its extensions; nil for all.
    /// - Throws: ``Complaint`` of kind `unknownApp`.
    public func backupApps(_ app: ContainerIdentifier?) throws(Complaint) -> [BackupApp] {
        let registry = registry
        let all = registry.apps.map(BackupApp.init) + registry.waiting.filter { $0.kind == .data }.map(BackupApp.init)
        guard let app else { return all.sorted { $0.identifier < $1.identifier } }
        let family = Set(registry.family(of: app).map(\.identifier)).union([app])
        let chosen = all.filter { family.contains($0.identifier) }
        guard !chosen.isEmpty else { throw installedApps.unknownApp(app) }
        return chosen.sorted { $0.identifier < $1.identifier }
    }

    /// Writes the containers of apps into a backup. They may be in use: everything that was written to them before is
    /// in it.
    ///
    /// - Parameters:
    ///   - openFile: the file that a volume has open for an inode of the host; nil if none has.
    ///   - disobeyed: gets the places that bear the mark of exclusion and went in all the same, by the device's
    ///     caprice.
    ///   - progress: bytes of the host that were come to.
    /// - Throws: ``Complaint`` of kind `damaged` where a file does not authenticate, `inUse` where a container was
    ///   replaced meanwhile, or what the sink throws. The sink is not finished then.
    public func backUp(
        _ order: BackupOrder, into sink: inout some BackupSink,
        openFile: @escaping (UInt64) -> EncryptedFile? = { _ in nil },
        disobeyed: @escaping (BackupDomain, [FileName]) -> Void = { _, _ in },
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> BackupTally {
        let run = try BackupRun(order, on: self, openFile: openFile, disobeyed: disobeyed)
        let tally = try run.write(into: &sink, progress: progress)
        endTurn(of: .backedUp)
        return tally
    }

    /// Lists everything that a backup would take in, and that it would leave out. Nothing is read but names, attributes
    /// and, while a class is closed, headers.
    /// - Parameter body: gets one line at a time.
    /// - Throws: ``Complaint`` of kind `unknownApp`, or `inUse` where a container was replaced meanwhile.
    public func listBackup(
        _ order: BackupOrder, openFile: @escaping (UInt64) -> EncryptedFile? = { _ in nil },
        _ body: (BackupListing) -> Void
    ) throws(Complaint) {
        try BackupRun(order, on: self, openFile: openFile).list(body)
    }
}

/// One backup, or the list of what one would hold.
struct BackupRun {
    private let device: BootedDevice
    private let order: BackupOrder
    private let openFile: (UInt64) -> EncryptedFile?
    /// In order.
    let containers: [BackedUpContainer]
    private let caprice: Caprice?
    private let disobeyed: (BackupDomain, [FileName]) -> Void

    init(
        _ order: BackupOrder, on device: BootedDevice,
        openFile: @escaping (UInt64) -> EncryptedFile? = { _ in nil },
        disobeyed: @escaping (BackupDomain, [FileName]) -> Void = { _, _ in }
    ) throws(Complaint) {
        caprice = device.caprice
        self.disobeyed = disobeyed
        self.device = device
        self.order = order
        self.openFile = openFile
        containers = try device.backedUpContainers(of: order.app)
    }

    /// - Returns: the counts of the backup, which is finished.
    func write(
        into sink: inout some BackupSink, progress: (DeviceProgress) -> Bool
    ) throws(Complaint) -> BackupTally {
        let reader = BackupReader(
            device.context, keybag: device.passcode.keybagIdentifier, key: try device.sealedFileKey(),
            openFile: openFile)
        var work = BackupWork { [containers] in
            // A container that cannot be measured is left out.
            containers.reduce(0) { $0 + ((try? $1.directory.descriptor.contentSize()) ?? 0) }
        }
        for container in containers {
            var backup = ContainerBackup(container, reader, order, work)
            var walk = ContainerWalk(container.kind, container.directory, ignoringMark: ignoringMark(in: container))
            try walk.run { (place, inclusion) throws(Complaint) in
                guard inclusion == .included else { return false }
                try backup.add(place, to: &sink, progress: progress)
                return true
            }
            work = backup.work
        }
        try requireInPlace()
        try sink.finish()
        return work.tally
    }

    /// A directory that is left out is one line, with the bytes of all that is in it.
    func list(_ body: (BackupListing) -> Void) throws(Complaint) {
        for container in containers {
            var walk = ContainerWalk(container.kind, container.directory, ignoringMark: ignoringMark(in: container))
            try walk.run { (place, inclusion) throws(Complaint) in
                var reason: BackupListing.Reason?
                if inclusion != .included {
                    let isNeverIn = container.kind.isNeverInBackup(place)
                    reason = isNeverIn ? .place : place.status.kind == .device ? .kind : .marked
                }
                body(listing(of: place, reason, in: container.domain))
                return reason == nil
            }
        }
        try requireInPlace()
    }

    /// The paths in a container that are left out, without the places that never go in. Of what is in a directory that
    /// is left out nothing is looked at.
    func pathsLeftOut(of container: BackedUpContainer) throws(Complaint) -> [[FileName]] {
        var paths: [[FileName]] = []
        var walk = ContainerWalk(container.kind, container.directory, ignoringMark: ignoringMark(in: container))
        try walk.run { (place, inclusion) throws(Complaint) in
            guard inclusion != .included else { return true }
            if !container.kind.isNeverInBackup(place) { paths.append(place.path) }
            return false
        }
        return paths
    }

    /// Whether marks count: not where the order says so, and not where the device disobeys.
    private func ignoringMark(in container: BackedUpContainer) -> (ContainerPlace) -> Bool {
        if order.ignoresExclusions { return { _ in true } }
        guard let caprice, let owner = container.domain.identifier else { return { _ in false } }
        let (disobeyed, domain) = (disobeyed, container.domain)
        return { place in
            let path = place.path
            guard caprice.does(.backedUp, to: path, of: owner) else { return false }
            disobeyed(domain, path)
            return true
        }
    }

    /// Whether files of some class cannot be opened now.
    private var hasClosedClass: Bool { !ProtectionClass.allCases.allSatisfy { device.context.keys.isAvailable($0) } }

    /// - Parameter reason: why the entry is left out; nil for one that goes in.
    private func listing(
        of place: ContainerPlace, _ reason: BackupListing.Reason?, in domain: BackupDomain
    ) -> BackupListing {
        var bytes: Int64 = 0
        var isSealed = false
        switch place.status.kind {
        case .file:
            bytes = openFile(place.status.inode)?.length ?? ContentLayout.length(ofBacking: place.status.size)
            // A file is opened for its class only where some class is closed.
            if reason == nil, hasClosedClass, let parent = place.parent, let name = place.name,
                let backing = try? parent.descriptor.open(name, flags: O_RDONLY | O_NONBLOCK),
                let protection = EncryptedFile.protection(of: backing)
            {
                isSealed = !device.context.keys.isAvailable(protection)
            }
        case .directory where reason != nil:
            if let directory = try? place.directory?.descriptor.duplicate()
                ?? place.parent!.descriptor.openDirectory(place.name!)
            {
                bytes = (try? directory.contentSize()) ?? 0
            }
        case .directory, .symbolicLink, .fifo, .socket, .device: break
        }
        return BackupListing(
            domain: domain, path: place.path, isDirectory: place.status.kind == .directory, bytes: bytes,
            leftOut: reason, isSealed: isSealed)
    }

    /// - Throws: ``Complaint`` of kind `inUse` where a container went since its walk began: the walk has taken files
    ///   that were not there any more for removed by the app.
    private func requireInPlace() throws(Complaint) {
        let present = try device.backedUpContainers(of: order.app)
        for container in containers {
            let isThere = present.contains { other in
                other.domain == container.domain && other.identity == container.identity
            }
            guard isThere else {
                throw Complaint(
                    .inUse,
                    "\(container.domain.name) was removed, reset or restored while it was backed up; back up again")
            }
        }
    }
}

extension BackupApp {
    fileprivate init(_ app: InstalledApp) {
        self.init(
            identifier: app.identifier, name: app.displayName, version: app.version,
            groups: app.groups.map(\.identifier).sorted(), isExtension: app.place != nil, owner: app.owner,
            ownerGroup: app.ownerGroup)
    }

    /// The app of a waiting container. Its name and version are not known.
    fileprivate init(_ app: WaitingContainer) {
        self.init(
            identifier: app.identifier, name: "", version: "", groups: app.groups.sorted(), owner: app.owner,
            ownerGroup: app.ownerGroup)
    }
}
