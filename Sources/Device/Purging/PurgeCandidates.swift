// The look through the caches of all apps: what a purge could take, and where it lies.

import BackingStore
import ContainerVolume
import DeviceLifecycle
import Platform
import SandboxModel

/// The purgeable entries of some apps and of their groups, as the plan takes them, and their places on the host.
struct PurgeCandidates {
    /// A container with purgeable entries.
    struct Source {
        /// The app of a data container; of a group the first of its apps.
        let app: ContainerIdentifier
        /// nil for a data container.
        let group: PurgeUnit.Group?
        let uuid: ContainerUUID
        /// The apps that have the container.
        var apps: Set<ContainerIdentifier> { group?.apps ?? [app] }

        var kind: ContainerKind { group == nil ? .data : .group }

        var directories: [PurgeableDirectory] {
            group == nil ? PurgeableDirectory.allCases : PurgeableDirectory.ofGroup
        }
    }

    /// The entries of one container.
    struct Container {
        let source: Source
        let directory: SharedDescriptor
        let entries: [PurgeableEntry]
    }

    private(set) var containers: [Container] = []
    private(set) var units: [PurgeUnit] = []
    /// Of each unit: the indices of its container and of its entry.
    private(set) var places: [(container: Int, entry: Int)] = []

    /// Looks through `Library/Caches` and `tmp` on the host. Entries that come or go meanwhile may be missing or be
    /// there.
    ///
    /// - Parameters:
    ///   - only: one app; nil for all.
    ///   - leftOut: apps that need not be looked at.
    ///   - onlyTemporary: whether only `tmp` is looked through.
    ///   - withUse: whether the last use of each entry is looked up; without it all are of one age.
    init(
        on device: BootedDevice, in environment: any PurgeEnvironment, only: ContainerIdentifier?,
        leavingOut leftOut: Set<ContainerIdentifier>, onlyTemporary: Bool = false, withUse: Bool = true
    ) {
        var open: [ObjectIdentifier: Set<UInt64>] = [:]
        for source in PurgeCandidates.sources(device.apps)
        where only.map({ source.apps.contains($0) }) ?? true && source.apps.isDisjoint(with: leftOut) {
            let directories = source.directories.filter { !onlyTemporary || $0 == .temporary }
            guard !directories.isEmpty else { continue }
            // Asked before the walk: a file that is opened later is found when the entry is taken.
            var openInodes: Set<UInt64> = []
            for volume in source.apps.compactMap({ environment.volume(of: $0) }) {
                let known = open[ObjectIdentifier(volume)] ?? volume.openInodes
                open[ObjectIdentifier(volume)] = known
                if openInodes.isEmpty { openInodes = known } else { openInodes.formUnion(known) }
            }
            guard let container = try? device.directory.container(source.kind, source.uuid),
                let entries = try? device.context.purgeableEntries(
                    of: container, in: directories, open: openInodes, withUse: withUse)
            else { continue }
            add(Container(source: source, directory: SharedDescriptor(container), entries: entries))
        }
    }

    /// The data containers of all apps, and then the groups, each once.
    static func sources(_ apps: [InstalledApp]) -> [Source] {
        var groups: [ContainerUUID: (identifier: ContainerIdentifier, apps: Set<ContainerIdentifier>)] = [:]
        var order: [ContainerUUID] = []
        for app in apps {
            for group in app.groups {
                if groups[group.uuid] == nil { order.append(group.uuid) }
                groups[group.uuid, default: (group.identifier, [])].apps.insert(app.identifier)
            }
        }
        return apps.map { Source(app: $0.identifier, group: nil, uuid: $0.data) }
            + order.compactMap { uuid in
                guard let (identifier, apps) = groups[uuid], let first = apps.min() else { return nil }
                return Source(app: first, group: PurgeUnit.Group(identifier, of: apps), uuid: uuid)
            }
    }

    private mutating func add(_ container: Container) {
        for (index, entry) in container.entries.enumerated() {
            places.append((containers.count, index))
            units.append(
                PurgeUnit(
                    app: container.source.app, group: container.source.group, directory: entry.directory,
                    name: entry.name, bytes: entry.bytes, lastUse: entry.lastUse.nanoseconds, isOpen: entry.isOpen))
        }
        containers.append(container)
    }

    /// The entry behind a unit.
    func entry(_ unit: Int) -> PurgeableEntry { containers[places[unit].container].entries[places[unit].entry] }
}
