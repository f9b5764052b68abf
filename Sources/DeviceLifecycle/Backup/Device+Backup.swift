// Backing up: each container walked in order, each thing of it handed to whatever writes the backup down.

public import BackingStore
public import BackupModel
import DataProtection
import Glibc
import Platform
public import SandboxModel

extension Device {
    /// The apps that a backup has.
    /// - Parameter app: one of them; nil for all.
    /// - Throws: ``Complaint`` of kind `unknownApp`.
    public func backupApps(_ app: ContainerIdentifier?) throws(Complaint) -> [BackupApp] {
        let chosen = try app.map { (app) throws(Complaint) in [try self.app(app)] } ?? apps
        return chosen.map { app in
            BackupApp(
                identifier: app.identifier, name: app.displayName, version: app.version,
                groups: app.groups.map(\.identifier).sorted(), owner: app.owner, ownerGroup: app.ownerGroup)
        }
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
        let total = totalBytes(of: containers)
        var meter = BackupMeter(total: total)
        var tally = BackupTally()
        for container in containers {
            var writing = BackupWriting(container.domain, reader, order, tally: tally, meter: meter)
            var walk = ContainerWalk(container.kind, container.directory, ignoringMarks: order.ignoresExclusions)
            try walk.run { (place, inclusion) throws(Complaint) in
                guard inclusion == .included else { return false }
                try writing.take(place, into: &sink, progress: progress)
                return true
            }
            (tally, meter) = (writing.tally, writing.meter)
        }
        try sink.finish()
        return tally
    }

    /// What a backup would take in, and what it would leave out.
    public func listBackup(
        _ order: BackupOrder, openFile: @escaping (UInt64) -> EncryptedFile? = { _ in nil },
        _ body: (BackupListing) -> Void
    ) throws(Complaint) {
        for container in try backedUp(order.app) {
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
    }

    private func list(
        _ place: ContainerPlace, _ reason: BackupListing.Reason?, in domain: BackupDomain,
        _ openFile: (UInt64) -> EncryptedFile?, _ body: (BackupListing) -> Void
    ) {
        var bytes: Int64 = 0
        var isSealed = false
        switch place.status.kind {
        case .file:
            bytes = openFile(place.status.inode)?.length ?? ContentLayout.length(ofBacking: place.status.size)
            if reason == nil, let parent = place.parent, let name = place.path.last,
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

    private struct BackedUp {
        let domain: BackupDomain
        let kind: ContainerKind
        let directory: SharedDescriptor
    }

    /// The containers that a backup of an app, or of all, walks through, in order.
    private func backedUp(_ app: ContainerIdentifier?) throws(Complaint) -> [BackedUp] {
        var containers: [BackedUp] = []
        for app in try app.map({ (app) throws(Complaint) in [try self.app(app)] }) ?? apps {
            let places =
                [(BackupDomain.app(app.identifier), ContainerKind.data, app.data)]
                + app.groups.map { (.group($0.identifier), .group, $0.uuid) }
            for (domain, kind, uuid) in places where !containers.contains(where: { $0.domain == domain }) {
                let container = try Complaint.wrap("cannot open a container of \(app.identifier)") {
                    () throws(SystemError) in SharedDescriptor(try directory.container(kind, uuid))
                }
                containers.append(BackedUp(domain: domain, kind: kind, directory: container))
            }
        }
        return containers.sorted { $0.domain < $1.domain }
    }

    private func totalBytes(of containers: [BackedUp]) -> Int64 {
        // Only a measure: what cannot be counted is not waited for.
        containers.reduce(0) { $0 + ((try? $1.directory.descriptor.contentSize()) ?? 0) }
    }
}
