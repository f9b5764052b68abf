// The end of a purge on a device that disobeys: it tells of its deeds, and takes Library/Caches away at times.

import BackingStore
import ContainerVolume
import DeviceLifecycle
import Platform
import SandboxModel

extension Caprice {
    /// Whether the device does this to an entry now.
    func does(_ deed: Deed, to unit: PurgeUnit) -> Bool {
        does(deed, to: unit.directory.path + [unit.name], of: unit.group?.identifier ?? unit.app)
    }
}

/// The end of a purge on a device that disobeys. It runs on the purger's thread.
struct CapriciousPurge {
    let run: PurgeRun
    let caprice: Caprice

    private var device: BootedDevice { run.device }
    private var environment: any PurgeEnvironment { run.environment }

    /// Records what the purge has spared and taken early, takes `Library/Caches` of some containers away, and ends the
    /// turn. A purge for space that was no occasion for anything ends none.
    ///
    /// The regular work on `tmp` ends so too, and thereby days on which nothing is purged.
    func end(_ outcome: inout PurgeOutcome, of order: PurgeOrder) {
        let spared = outcome.skipped.filter { $0.reason == .spared }.map(\.unit)
        let early = outcome.purged.filter { $0.reason == .disobeyed }.map(\.unit)
        environment.record(
            spared.map { PurgeOutcome.Disobeyed(deed: .spared, app: $0.app, path: $0.path) }
                + early.map { PurgeOutcome.Disobeyed(deed: .purgedEarly, app: $0.app, path: $0.path) })
        guard order.isReported || !outcome.purged.isEmpty || !spared.isEmpty else { return }
        removeCaches(into: &outcome, of: order.app)
        device.endTurn(of: .purgedEarly)
    }

    /// Takes `Library/Caches` away, with all in it, from the containers whose turn it is, unless an app of theirs runs
    /// or a file in it is open. The app may make it anew.
    private func removeCaches(into outcome: inout PurgeOutcome, of app: ContainerIdentifier?) {
        for source in PurgeCandidates.sources(device.apps) where app.map({ source.apps.contains($0) }) ?? true {
            guard
                caprice.does(
                    .removedCaches, to: PurgeableDirectory.caches.path, of: source.group?.identifier ?? source.app),
                let opened = try? device.directory.container(source.kind, source.uuid)
            else { continue }
            let container = SharedDescriptor(opened)
            let removal = run.whileIdle(source.apps) { () -> Bool in
                guard !source.apps.contains(where: { environment.isRunning($0) }), run.isCurrent(source) else {
                    return false
                }
                return remove(from: container, of: source, into: &outcome)
            }
            guard removal == true else { continue }
            let path = PurgeableDirectory.caches.path.text
            environment.record([
                PurgeOutcome.Disobeyed(
                    deed: .removedCaches, app: source.app,
                    path: source.group.map { "\(HomeLayout.groups.text)/\($0.identifier)/\(path)" } ?? path)
            ])
        }
    }

    /// - Returns: whether the directory is gone.
    private func remove(
        from container: SharedDescriptor, of source: PurgeCandidates.Source, into outcome: inout PurgeOutcome
    ) -> Bool {
        let volumes = source.apps.compactMap { environment.volume(of: $0) }
        guard volumes.allSatisfy({ $0 === volumes[0] }),
            let library = try? container.descriptor.openDirectory(HomeLayout.library),
            let caches = try? library.openDirectory(HomeLayout.caches),
            let entries = try? device.context.purgeableEntries(
                of: container.descriptor, in: [.caches], open: volumes.first?.openInodes ?? []),
            !entries.contains(where: \.isOpen)
        else { return false }
        let withdrawals =
            volumes.first?.withdraw(entries, from: caches, into: run.trash)
            ?? device.context.withdraw(entries, from: caches, into: run.trash)
        for (entry, withdrawal) in zip(entries, withdrawals) {
            guard case .taken(let item) = withdrawal else { continue }
            let unit = PurgeUnit(
                app: source.app, group: source.group, directory: .caches, name: entry.name, bytes: entry.bytes,
                lastUse: entry.lastUse.nanoseconds, isOpen: false)
            let bytes = run.trash.remove(item, SharedLinkTally(), isShared: false)
            let purged = PurgeOutcome.Purged(unit: unit, reason: .disobeyed, bytes: bytes)
            outcome.purged.append(purged)
            environment.record([purged])
            run.recordFreed(bytes)
        }
        do throws(SystemError) {
            // An app that is not running may have made something meanwhile: then the directory stays.
            if let volume = volumes.first {
                try volume.removeEmptyDirectory(HomeLayout.caches, from: library)
            } else {
                try library.removeDirectory(HomeLayout.caches)
                device.context.space.add(-device.context.space.weights.directory)
            }
            return true
        } catch {
            return false
        }
    }
}
