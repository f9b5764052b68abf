// Backing up: each container walked in order, each thing of it handed to whatever writes the backup down.

public import BackingStore
public import BackupModel
import DataProtection
import Glibc
import Platform
public import SandboxModel

extension Device {
    /// The apps that a backup has; those whose data waits for them are among them.
    /// - Parameter app: one of them; nil for all.
    /// - Throws: ``Complaint`` of kind `unknownApp`.
    public func backupApps(_ app: ContainerIdentifier?) throws(Complaint) -> [BackupApp] {
        let registry = registry
        let all = registry.apps.map(BackupApp.init) + registry.waiting.filter { $0.kind == .data }.map(BackupApp.init)
        guard let app else { return all.sorted { $0.identifier < $1.identifier } }
        guard let chosen = all.first(where: { $0.identifier == app }) else { throw unknownApp(app) }
        return [chosen]
    }

    /// Writes the containers of apps into a backup. They may be in use: what was written to them before is in it.
    ///
    /// - Parameters:
    ///   - openFile: the file that a volume has open for an inode of the host, if it has.
    ///   - progress: bytes of the host that were come to.
    /// - Throws: ``Complaint`` of kind `damaged` where a file does not authenticate, or what the sink throws. The sink is
    ///   not finished then.
    public func backUp(
        _ order: BackupOrder, into sink: inout some BackupSink,
        openFile: @escaping (UInt64) -> EncryptedFile? = { _ in nil },
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> BackupTally {
        let reader = BackupReader(context, keybag: keybagIdentifier, openFile: openFile)
        let containers = try backedUp(order.app)
        var meter = BackupMeter { Device.bytes(of: containers) }
        var tally = BackupTally()
        for container in containers {
            var writing = BackupWriting(
                container.domain, container.directory, reader, order, tally: tally, meter: meter)
            var walk = ContainerWalk(container.kind, container.directory, ignoringMarks: order.ignoresExclusions)
            try walk.run { (place, inclusion) throws(Complaint) in
                guard inclusion == .included else { return false }
                try writing.take(place, into: &sink, progress: progress)
                return true
            }
            (tally, meter) = (writing.tally, writing.meter)
        }
        try requireInPlace(containers, order.app)
        try sink.finish()
        return tally
    }

    /// What a backup would take in, and what it would leave out.
    public func listBackup(
        _ order: BackupOrder, openFile: @escaping (UInt64) -> EncryptedFile? = { _ in nil },
        _ body: (BackupListing) -> Void
    ) throws(Complaint) {
        let containers = try backedUp(order.app)
        for container in containers {
            var walk = ContainerWalk(container.kind, container.directory, ignoringMarks: order.ignoresExclusions)
            try walk.run { (place, inclusion) throws(Complaint) in
                var reason: BackupListing.Reason?
                if inclusion != .included {
                    let isNeverIn = container.kind.isNeverInBackup(place.path)
                    reason = isNeverIn ? .place : place.isMarked && !order.ignoresExclusions ? .marked : .kind
                }
                list(place, reason, in: container.domain, openFile, body)
                return reason == nil
            }
        }
        try requireInPlace(containers, order.app)
    }

    private var hasClosedClass: Bool { !ProtectionClass.allCases.allSatisfy { context.keys.isAvailable($0) } }

    private func list(
        _ place: ContainerPlace, _ reason: BackupListing.Reason?, in domain: BackupDomain,
        _ openFile: (UInt64) -> EncryptedFile?, _ body: (BackupListing) -> Void
    ) {
        var bytes: Int64 = 0
        var isSealed = false
        switch place.status.kind {
        case .file:
            bytes = openFile(place.status.inode)?.length ?? ContentLayout.length(ofBacking: place.status.size)
            // Only where something is closed at all is it worth opening a file to see its class.
            if reason == nil, hasClosedClass, let parent = place.parent, let name = place.path.last,
                let backing = try? parent.descriptor.open(name, flags: O_RDONLY | O_NONBLOCK),
                let protection = EncryptedFile.protection(of: backing)
            {
                isSealed = !context.keys.isAvailable(protection)
            }
        case .directory where reason != nil:
            if let directory = try? place.directory?.descriptor.duplicate()
                ?? place.parent!.descriptor.openDirectory(place.path[place.path.count - 1])
            {
                bytes = (try? directory.contentSize()) ?? 0
            }
        case .directory, .symbolicLink, .fifo, .socket, .device: break
        }
        body(
            BackupListing(
                domain: domain, path: place.path, isDirectory: place.status.kind == .directory, bytes: bytes,
                leftOut: reason, isSealed: isSealed))
    }

    // MARK: Containers

    private struct BackedUp: Sendable {
        let domain: BackupDomain
        let kind: ContainerKind
        let directory: SharedDescriptor
        let identity: FileStatus.Identity
    }

    /// - Throws: ``Complaint`` of kind `inUse` where a container went since its walk began. What of it was not there any
    ///   more the walk has taken for removed by the app.
    private func requireInPlace(
        _ containers: [BackedUp], _ app: ContainerIdentifier?
    ) throws(Complaint) {
        let present = try backedUp(app)
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

    /// The containers that a backup of an app, or of all, walks through, in order. What changes them is waited for: an
    /// update gives a container another name.
    private func backedUp(_ app: ContainerIdentifier?) throws(Complaint) -> [BackedUp] {
        try changing { (_) throws(Complaint) in try openContainers(of: app) }
    }

    private func openContainers(of app: ContainerIdentifier?) throws(Complaint) -> [BackedUp] {
        var domains = Set<BackupDomain>()
        for app in try backupApps(app) {
            domains.insert(.app(app.identifier))
            domains.formUnion(app.groups.map { .group($0) })
        }
        let registry = registry
        if app == nil {
            domains.formUnion(registry.waiting.filter { $0.kind == .group }.map { .group($0.identifier) })
        }
        var containers: [BackedUp] = []
        for domain in domains.sorted() {
            let (kind, identifier): (ContainerKind, ContainerIdentifier)
            switch domain {
            case .app(let app): (kind, identifier) = (.data, app)
            case .group(let group): (kind, identifier) = (.group, group)
            case .other: continue
            }
            // A group that an app waited with may have gone with another.
            guard let uuid = registry.container(kind, identifier) else { continue }
            let container = try Complaint.wrap("cannot open the container of \(identifier)") {
                () throws(SystemError) in
                let container = SharedDescriptor(try directory.container(kind, uuid))
                let identity = try container.descriptor.status().identity
                return BackedUp(domain: domain, kind: kind, directory: container, identity: identity)
            }
            containers.append(container)
        }
        return containers
    }

    private static func bytes(of containers: [BackedUp]) -> Int64 {
        // Only a measure: what cannot be counted is not waited for.
        containers.reduce(0) { $0 + ((try? $1.directory.descriptor.contentSize()) ?? 0) }
    }
}

extension BackupApp {
    fileprivate init(_ app: InstalledApp) {
        self.init(
            identifier: app.identifier, name: app.displayName, version: app.version,
            groups: app.groups.map(\.identifier).sorted(), owner: app.owner, ownerGroup: app.ownerGroup)
    }

    /// Of its name and version nothing is known.
    fileprivate init(_ app: WaitingContainer) {
        self.init(
            identifier: app.identifier, name: "", version: "", groups: app.groups.sorted(), owner: app.owner,
            ownerGroup: app.ownerGroup)
    }
}
