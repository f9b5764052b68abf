// The places of apps' homes that a backup leaves out, as the mount names them.

public import BackingStore
import BackupModel
import Platform
public import SandboxModel
import SandboxPolicy

extension BootedDevice {
    /// The paths in the homes of apps that a backup leaves out: of each home the places that are never in one, then
    /// what bears the mark, in the order of a backup. Content of a directory that is left out is not named.
    ///
    /// - Parameter app: the only one; nil for all, of which those are passed over that are removed meanwhile.
    /// - Throws: ``Complaint`` of kind `unknownApp`, or `inUse` where a container was replaced meanwhile.
    public func pathsOutOfBackup(
        of app: ContainerIdentifier? = nil
    ) throws(Complaint) -> [(app: InstalledApp, paths: [[FileName]])] {
        try ExcludedPlaces(of: app, on: self).homes()
    }
}

/// The places that a backup of these apps leaves out, by container: each is walked once, however many homes show it.
struct ExcludedPlaces {
    private let device: BootedDevice
    /// The only app; nil for all.
    private let named: ContainerIdentifier?
    private let apps: [InstalledApp]
    /// Keeps the containers open, so that no other gets the identity of one.
    private let run: BackupRun
    private let paths: [BackupDomain: [[FileName]]]

    /// Walks through the containers.
    /// - Throws: ``Complaint`` of kind `unknownApp`.
    init(of named: ContainerIdentifier?, on device: BootedDevice) throws(Complaint) {
        self.device = device
        self.named = named
        if let named { apps = [try device.app(named)] } else { apps = device.apps }
        run = try BackupRun(BackupOrder(app: named), on: device)
        let wanted = Set(apps.flatMap(\.backupDomains))
        var paths: [BackupDomain: [[FileName]]] = [:]
        for container in run.containers where wanted.contains(container.domain) {
            paths[container.domain] = try run.pathsLeftOut(of: container)
        }
        self.paths = paths
    }

    /// The homes of the apps that are still there, in the order of their identifiers.
    /// - Throws: ``Complaint`` of kind `unknownApp` where the named one has gone, or `inUse` where a container of an
    ///   app that is there is another than the one that was walked through.
    func homes() throws(Complaint) -> [(app: InstalledApp, paths: [[FileName]])] {
        let present = ExcludedPlaces.identities(try device.backedUpContainers(of: named))
        let walked = ExcludedPlaces.identities(run.containers)
        // Asked last, so that an app that has gone by then is passed over.
        let installed = Set(device.apps.map(\.identifier))
        var homes: [(app: InstalledApp, paths: [[FileName]])] = []
        for app in apps where named != nil || installed.contains(app.identifier) {
            for domain in app.backupDomains where walked[domain] != present[domain] {
                throw Complaint(
                    .inUse, "\(domain.name) was removed, reset or restored while it was looked at; list again")
            }
            homes.append((app: app, paths: paths(in: app)))
        }
        return homes
    }

    private static func identities(_ containers: [BackedUpContainer]) -> [BackupDomain: FileStatus.Identity] {
        Dictionary(uniqueKeysWithValues: containers.map { ($0.domain, $0.identity) })
    }

    /// The paths from one app's home.
    private func paths(in app: InstalledApp) -> [[FileName]] {
        let groups = app.groups.map(\.identifier).sorted()
        // Of these places, the host has others than the home shows.
        var found = SandboxPolicy.placesNeverInBackup(
            bundle: app.bundleName, groups: groups.compactMap { FileName($0.text) }, hasICloud: !app.iCloud.isEmpty)
        found += paths[app.backupDomain] ?? []
        for group in groups {
            guard let name = FileName(group.text) else { continue }
            found += (paths[.group(group)] ?? []).map { [HomeLayout.groups, name] + $0 }
        }
        return found
    }
}

extension InstalledApp {
    /// The domain of its data container.
    fileprivate var backupDomain: BackupDomain { place == nil ? .app(identifier) : .plugin(identifier) }

    /// The domains of all that a backup has of it.
    fileprivate var backupDomains: [BackupDomain] { [backupDomain] + groups.map { .group($0.identifier) } }
}
