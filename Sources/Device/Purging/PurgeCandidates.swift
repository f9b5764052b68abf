// The look through the caches of all apps: what a purge could take, and where it lies.

import BackingStore
import ContainerVolume
import DeviceLifecycle
import Platform
import SandboxModel

/// The purgeable entries of some apps, as the plan takes them, and their places on the host.
struct PurgeCandidates {
    /// One app's entries.
    struct App {
        let app: InstalledApp
        let container: SharedDescriptor
        let entries: [PurgeableEntry]
    }

    private(set) var apps: [App] = []
    private(set) var units: [PurgeUnit] = []
    /// Of each unit: the indices of its app and of its entry.
    private(set) var places: [(app: Int, entry: Int)] = []

    /// Looks through `Library/Caches` and `tmp` on the host. Entries that come or go meanwhile may be missing or be there.
    ///
    /// - Parameters:
    ///   - only: one app; nil for all.
    ///   - leftOut: apps that need not be looked at.
    ///   - withUse: whether the last use of each entry is looked up; without it all are of one age.
    init(
        on device: BootedDevice, in environment: any PurgeEnvironment, only: ContainerIdentifier?,
        leavingOut leftOut: Set<ContainerIdentifier>, withUse: Bool = true
    ) {
        var open: [ObjectIdentifier: Set<UInt64>] = [:]
        for app in device.apps where only.map({ $0 == app.identifier }) ?? true {
            guard !leftOut.contains(app.identifier) else { continue }
            // Asked before the walk: a file that is opened later is found when the entry is taken.
            let openInodes = environment.volume(of: app.identifier).map { volume in
                let known = open[ObjectIdentifier(volume)] ?? volume.openInodes
                open[ObjectIdentifier(volume)] = known
                return known
            }
            guard let container = try? device.directory.container(.data, app.data),
                let entries = try? device.context.purgeableEntries(
                    of: container, open: openInodes ?? [], withUse: withUse)
            else { continue }
            add(App(app: app, container: SharedDescriptor(container), entries: entries))
        }
    }

    private mutating func add(_ app: App) {
        for (index, entry) in app.entries.enumerated() {
            places.append((apps.count, index))
            units.append(
                PurgeUnit(
                    app: app.app.identifier, directory: entry.directory, name: entry.name, bytes: entry.bytes,
                    lastUse: entry.lastUse.nanoseconds, isOpen: entry.isOpen))
        }
        apps.append(app)
    }

    /// The entry behind a unit.
    func entry(_ unit: Int) -> PurgeableEntry { apps[places[unit].app].entries[places[unit].entry] }
}
