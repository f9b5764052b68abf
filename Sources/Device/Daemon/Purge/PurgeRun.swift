// One purge, from the look at what there is to the removal of what went. It runs on the purger's thread, and has others
// help to remove.
// No lock is held but for moments: each app's while entries are taken from it, which a request may wait for.

import AppContainer
import BackingStore
import ContainerVolume
import DeviceLifecycle
import Platform
import SandboxModel
import SandboxPolicy

/// What a purge works with.
struct PurgeRun: Sendable {
    let device: Device
    let trash: Trash
    let operations: AppOperations
    let running: RunningApps
    /// The volume through which an app's files may be open.
    let volume: @Sendable (ContainerIdentifier) -> Volume?
    /// Told of entries that went, on any thread.
    let purged: @Sendable ([PurgeOutcome.Purged]) -> Void
    /// Told of bytes that came free, on any thread.
    let freed: @Sendable (Int64) -> Void

    /// Plans that one purge makes: on a busy device the first one is not enough.
    private static let mostRounds = 8

    /// The purgeable entries of one app.
    private struct Found {
        let app: InstalledApp
        let container: SharedDescriptor
        let entries: [PurgeableEntry]
    }

    /// What can be purged, as the planner takes it, and where it is.
    private struct Candidates {
        var found: [Found] = []
        var units: [PurgeUnit] = []
        /// Of each unit: its app and entry in `found`.
        var places: [(found: Int, entry: Int)] = []
    }

    private var space: SpaceLedger { device.context.space }
    private var available: Int64 { space.figures.available }

    // MARK: Looking

    /// - Parameter leavesOut: apps that need not be looked into.
    private func candidates(
        of only: ContainerIdentifier?, leavesOut: Set<ContainerIdentifier>, withUse: Bool = true
    ) -> Candidates {
        var candidates = Candidates()
        var open: [ObjectIdentifier: Set<UInt64>] = [:]
        for app in device.apps where (only.map { $0 == app.identifier } ?? true) && !leavesOut.contains(app.identifier)
        {
            let isOpen = volume(app.identifier).map { volume in
                let known = open[ObjectIdentifier(volume)] ?? volume.openInodes
                open[ObjectIdentifier(volume)] = known
                return known
            }
            guard let container = try? device.directory.container(.data, app.data),
                let entries = try? device.context.purgeableEntries(of: container, open: isOpen ?? [], withUse: withUse)
            else { continue }
            for (index, entry) in entries.enumerated() {
                candidates.places.append((candidates.found.count, index))
                candidates.units.append(
                    PurgeUnit(
                        app: app.identifier, directory: entry.directory, name: entry.name, bytes: entry.bytes,
                        lastUse: entry.lastUse.nanoseconds, isOpen: entry.isOpen))
            }
            candidates.found.append(Found(app: app, container: SharedDescriptor(container), entries: entries))
        }
        return candidates
    }

    /// Bytes that would come free if everything went that may.
    func purgeableBytes() -> Int64 {
        let running = running.all
        let units = candidates(of: nil, leavesOut: running, withUse: false).units
        return PurgePlan(units, running: running, demand: PurgeDemand(.everything)).bytes
    }

    // MARK: Carrying out

    /// - Parameter goOn: told how many units have gone, on one thread at a time; false ends the purge.
    func callAsFunction(_ order: PurgeOrder, goOn: @escaping @Sendable (Int) -> Bool) -> PurgeOutcome {
        device.context.uses.writeDown()
        var outcome = PurgeOutcome()
        for _ in 0..<PurgeRun.mostRounds {
            let running = running.all
            let candidates = candidates(of: order.app, leavesOut: order.isReported ? [] : running)
            let plan = PurgePlan(
                candidates.units, running: running, demand: PurgeDemand(extent(of: order), of: order.app))
            outcome.isExhausted = !plan.isEnough
            outcome.skipped = plan.skipped.map {
                PurgeOutcome.Skipped(unit: candidates.units[$0.unit], reason: $0.reason)
            }
            if order.isDryRun {
                outcome.purged = plan.chosen.map { choice in
                    let unit = candidates.units[choice.unit]
                    return PurgeOutcome.Purged(unit: unit, reason: choice.reason, bytes: unit.bytes)
                }
                outcome.available = available + plan.bytes
                return outcome
            }
            let before = outcome.purged.count
            let isFinished = carryOut(plan, candidates, order, into: &outcome, goOn: goOn)
            guard isFinished, let target = order.target, available < target, outcome.purged.count > before else {
                break
            }
            // Some hosts give back only later what was removed.
            try? device.directory.root.synchronizeFilesystem()
            if available >= target { break }
        }
        outcome.available = available
        return outcome
    }

    /// Has the kernel let go of what it caches of all that went. Purges are waited for because of the room, not of the
    /// memory: to be called when nobody waits any more.
    func forgetWithdrawn() {
        for app in device.apps { volume(app.identifier)?.forgetWithdrawn() }
    }

    private func extent(of order: PurgeOrder) -> PurgeDemand.Extent {
        switch order.extent {
        case .available(let bytes): .bytes(bytes - available)
        case .everything: .everything
        case .unused(let age): .unused(since: device.context.uses.now.nanoseconds - age)
        }
    }

    /// - Returns: false when `goOn` ended it.
    private func carryOut(
        _ plan: PurgePlan, _ candidates: Candidates, _ order: PurgeOrder, into outcome: inout PurgeOutcome,
        goOn: @escaping @Sendable (Int) -> Bool
    ) -> Bool {
        let windows = PurgeWindows(
            of: plan.chosen.map { (candidates.units[$0.unit], $0) }, purged: outcome.purged.count, goOn: goOn)
        let body: @Sendable (Int, WorkMeter) throws(SystemError) -> Void = { [self] (index, _) throws(SystemError) in
            // Others may have given space back meanwhile.
            guard windows.goesOn, order.target.map({ available < $0 }) ?? true else { return }
            windows.end(index, space.whileRemoving { carryOut(windows[index], candidates, windows) })
        }
        // No window throws.
        _ = try? ParallelWork.run(
            windows.count, threadsPerProcessor: PurgeWindows.threadsPerProcessor, progress: { _ in true }, body)
        windows.tell(&outcome, candidates.units)
        return !windows.isEnded
    }

    /// Takes the entries of a window from their apps, then removes them. On one of several threads.
    private func carryOut(
        _ window: PurgeWindows.Window, _ candidates: Candidates, _ windows: PurgeWindows
    ) -> PurgeWindows.Result {
        var result = PurgeWindows.Result()
        // By the index in the window.
        var items: [Int: Trash.Item] = [:]
        let groups = Dictionary(grouping: window.indices) { index in
            let unit = window[index].unit
            return PurgePlace(found: candidates.places[unit].found, directory: candidates.units[unit].directory)
        }
        for (place, indices) in groups {
            let found = candidates.found[place.found]
            let entries = indices.map { found.entries[candidates.places[window[$0].unit].entry] }
            let withdrawals = windows.withdrawing { withdraw(entries, from: place.directory, of: found) }
            for (number, index) in indices.enumerated() {
                let reason: PurgeRefusal
                switch withdrawals {
                case .tried(let withdrawals):
                    switch withdrawals[number] {
                    case .taken(let item):
                        items[index] = item
                        continue
                    case .open: reason = .fileOpen
                    case .changed: reason = .changed
                    case .failed: reason = .failed
                    }
                case .kept(let refusal): reason = refusal
                }
                result.skipped.append(
                    PurgeOutcome.Skipped(unit: candidates.units[window[index].unit], reason: reason))
            }
        }
        for index in window.indices {
            guard let item = items[index] else { continue }
            let bytes = trash.remove(item, windows.links, isShared: windows.areFew)
            let choice = window[index]
            result.purged.append(
                PurgeOutcome.Purged(unit: candidates.units[choice.unit], reason: choice.reason, bytes: bytes))
        }
        purged(result.purged)
        freed(result.purged.reduce(0) { $0 + $1.bytes })
        return result
    }

    private struct PurgePlace: Hashable {
        let found: Int
        let directory: PurgeableDirectory
    }

    private enum Attempt {
        case tried([Withdrawal])
        /// None of them may go.
        case kept(PurgeRefusal)
    }

    /// Takes entries of one directory of one app, unless the app has come to run or is being changed.
    private func withdraw(
        _ entries: [PurgeableEntry], from directory: PurgeableDirectory, of found: Found
    ) -> Attempt {
        let app = found.app.identifier
        return operations.tryRun(on: app) {
            if running.isRunning(app) { return .kept(.appRunning) }
            guard device.apps.contains(where: { $0.identifier == app && $0.data == found.app.data }),
                let place = try? found.container.descriptor.openDirectory(at: directory.path)
            else { return .kept(.changed) }
            return .tried(
                volume(app)?.withdraw(entries, from: place, into: trash)
                    ?? device.context.withdraw(entries, from: place, into: trash))
        } ?? .kept(.appBusy)
    }
}
