// The handlers of requests about backups.

import AppContainer
import BackingStore
import BackupModel
import DeviceLifecycle
import FinderBackup
import FoundationEssentials
import Logging
import Platform
import SandboxModel

extension DeviceService {
    /// The requests about backups.
    static let backupRoutes: [Route<DeviceService>] = [
        .work(backUp), .call(listBackup), .call(backupExcluded), .work(restore), .call(backupPassword),
    ]

    /// Writes a backup to a path of the host. An operation on no app: apps can be mounted, run and used meanwhile.
    /// - Throws: ``Complaint`` of kind `fileExists`, `badRequest`, `unknownApp`, `noSpace` and others.
    func backUp(_ request: BackupRequest, progress: @escaping ProgressReport) throws(Complaint) -> BackupReport {
        let order = try order(request.app, request.ignoreExclusions, isIncremental: request.since != nil)
        try requireOutside(request.output)
        let tally = try operations.run { () throws(Complaint) in
            // The backup has what applications wrote before it, also what the kernel still caches.
            mounts.writeOut()
            let password = request.password.map { Array($0.utf8) }
            let keybag = try device.backupPassword.keybag(forBackupUnder: password)
            if keybag == nil, device.backupPassword.isSet {
                log.warning("the record of the backup password is damaged; the backup is made without it")
            }
            var sink = try BackupForms.sink(
                for: request, of: backupDevice, apps: device.backupApps(order.app), keybag: keybag)
            let disobeyed = DisobeyedMarks(apps: device.apps)
            let tally = try device.backUp(
                order, into: &sink, openFile: { [mounts] in mounts.openFile(inode: $0) }, disobeyed: disobeyed.add
            ) { report($0, "backing up", to: progress) }
            events.record(disobeyed.events)
            return tally
        }
        log.info("backed up \(tally.files) files", metadata: ["to": "\(request.output)"])
        return BackupReport(
            files: tally.files, bytes: tally.bytes, unchanged: tally.continued, sealed: tally.sealed)
    }

    /// Lists what a backup would contain and leave out.
    /// - Throws: ``Complaint`` of kind `invalidIdentifier`, `unknownApp` or `inUse`.
    func listBackup(_ request: BackupListRequest) throws(Complaint) -> [BackupItem] {
        let order = try order(request.app, request.ignoreExclusions, isIncremental: false)
        return try operations.run { () throws(Complaint) in
            mounts.writeOut()
            var items: [BackupItem] = []
            try device.listBackup(order, openFile: { [mounts] in mounts.openFile(inode: $0) }) { listing in
                items.append(BackupItem(listing))
            }
            return items
        }
    }

    /// The paths of homes that a backup leaves out.
    /// - Throws: ``Complaint`` of kind `invalidIdentifier`, `unknownApp` or `inUse`.
    func backupExcluded(_ request: BackupExcludedRequest) throws(Complaint) -> [ExcludedHome] {
        let app = try request.app.map { (app) throws(Complaint) in try identifier(app) }
        // The kernel keeps back content that is to be written, but neither names nor marks.
        return try operations.run { () throws(Complaint) in
            try device.pathsOutOfBackup(of: app).map { (app, paths) in
                ExcludedHome(
                    app: app.identifier.text, mountPoint: mounts.mountPoint(of: app.identifier),
                    paths: paths.map(ExcludedHome.Path.init))
            }
        }
    }

    /// Restores containers from a backup. No app that it replaces may run or be mounted.
    /// - Throws: ``Complaint`` of kind `notFound`, `invalidBackup`, `newerBackup`, `wrongPassword`, `inUse` and others.
    func restore(_ request: RestoreRequest, progress: @escaping ProgressReport) throws(Complaint) -> RestoreReport {
        let domain = request.domain.map { BackupDomain(name: $0) }
        // Opened before any app is held: the backup says which apps are concerned.
        var source = try BackupForms.source(for: request, domain: domain)
        let concerned = concerned(by: source, domain)
        let tally = try hold(concerned[...]) { () throws(Complaint) in
            try device.restore(
                from: &source, replacing: Set(concerned), password: request.password.map { Array($0.utf8) }
            ) { report($0, "restoring", to: progress) }
        }
        changes.record(app: nil)
        log.info("restored \(tally.files) files", metadata: ["from": "\(request.input)"])
        return RestoreReport(
            apps: tally.apps.map(\.text), waiting: tally.waiting.map(\.text), groups: tally.groups.map(\.text),
            files: tally.files, bytes: tally.bytes, leftOut: tally.leftOut)
    }

    /// The description of this device in a Finder backup.
    private var backupDevice: FinderBackupDevice {
        let name = HostPath.names(of: device.directory.path).last ?? "device"
        return FinderBackupDevice(name: name, identifier: device.directory.uuid, hasPasscode: device.hasPasscode)
    }

    /// - Throws: ``Complaint`` of kind `invalidIdentifier`.
    private func order(
        _ app: String?, _ ignoresExclusions: Bool?, isIncremental: Bool
    ) throws(Complaint) -> BackupOrder {
        BackupOrder(
            app: try app.map { (app) throws(Complaint) in try identifier(app) },
            ignoresExclusions: ignoresExclusions ?? false, isIncremental: isIncremental)
    }

    /// - Throws: ``Complaint`` of kind `badRequest` for a path in the device or in one of its mounts, where the backup
    ///   would contain itself.
    func requireOutside(_ output: String) throws(Complaint) {
        // The path itself too: it may be a link to an empty directory, which the backup replaces.
        let places = HostPath.withAncestors(HostPath.withoutTrailingSlashes(output)).prefix(2)
        let own = [device.directory.path] + mounts.all.map(\.mountPoint)
        for place in own where places.contains(where: { (try? HostPath.holds(place, $0)) == true }) {
            throw Complaint(
                .badRequest,
                "cannot back up to \(output): it lies in \(place), which is backed up; choose another place")
        }
    }

    /// The installed apps that have a container which the restore may replace.
    /// - Parameter domain: the one container that the request names; nil for all of the backup.
    private func concerned(by source: some BackupSource, _ domain: BackupDomain?) -> [ContainerIdentifier] {
        let (backedUp, groups) = (Set(source.apps.map(\.identifier)), Set(source.groups))
        let concerned = device.apps.filter { app in
            switch domain {
            case .app(let identifier), .plugin(let identifier): identifier == app.identifier
            case .group(let group): app.groups.contains { $0.identifier == group }
            case .other: false
            case nil: backedUp.contains(app.identifier) || app.groups.contains { groups.contains($0.identifier) }
            }
        }
        return concerned.map(\.identifier)
    }

    /// Carries out a restore within an operation on each of these apps, none of which runs or is mounted.
    private func hold<Result>(
        _ apps: ArraySlice<ContainerIdentifier>, _ body: () throws(Complaint) -> Result
    ) throws(Complaint) -> Result {
        try operations.run(onEach: apps) { () throws(Complaint) in
            for app in apps {
                try requireNotRunning(app, before: "restored")
                try mounts.requireUnmounted(app, before: "restored")
            }
            return try body()
        }
    }
}

/// The marked places that a device took into a backup all the same, as events. One thread uses it.
private final class DisobeyedMarks {
    private let apps: [InstalledApp]
    private(set) var events: [Event] = []

    init(apps: [InstalledApp]) {
        self.apps = apps
    }

    func add(_ domain: BackupDomain, _ path: [FileName]) {
        var (app, home) = (domain.identifier, path.text)
        if case .group(let group) = domain {
            app = apps.filter { app in app.groups.contains { $0.identifier == group } }.map(\.identifier).min()
            home = "\(HomeLayout.groups.text)/\(group)" + (path.isEmpty ? "" : "/\(home)")
        }
        events.append(Event(.disobeyed, app: app?.text, path: home, reason: Caprice.Deed.backedUp.rawValue))
    }
}

extension ExcludedHome.Path {
    fileprivate init(_ path: [FileName]) {
        let bytes = path.joined
        let isText = String(validating: bytes, as: UTF8.self) != nil
        self.init(path: path.text, bytes: isText ? nil : Data(bytes))
    }
}

extension BackupItem {
    fileprivate init(_ listing: BackupListing) {
        self.init(
            domain: listing.domain.name, path: listing.path.text, size: listing.bytes,
            leftOut: listing.leftOut.map { reason in
                switch reason {
                case .marked: .excluded
                case .place: .place
                case .kind: .kind
                }
            }, sealed: listing.isSealed)
    }
}
