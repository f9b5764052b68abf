// One purge, from the look at what there is to the removal of what went. It runs on the purger's thread, and has other
// threads help to remove.
// Locks: none of its own. Each app's operation is held while entries are taken from it, which a request may wait for.

import BackingStore
import ContainerVolume
import DeviceLifecycle
import Platform
import SandboxModel

/// Carries out purges of one device.
struct PurgeRun: Sendable {
    let device: BootedDevice
    let trash: Trash
    let environment: any PurgeEnvironment
    /// Gets bytes that came free, on any thread.
    let recordFreed: @Sendable (Int64) -> Void

    /// Plans that one purge makes at most: on a busy device the first one is not enough.
    private static let mostPlans = 8

    private var space: SpaceLedger { device.context.space }
    private var available: Int64 { space.figures.available }

    /// Bytes that would come free if everything went that may.
    func purgeableBytes() -> Int64 {
        let running = environment.runningApps
        let candidates = PurgeCandidates(on: device, in: environment, only: nil, leavingOut: running, withUse: false)
        return PurgePlan(candidates.units, running: running, demand: PurgeDemand(.everything)).bytes
    }

    /// Has the kernel drop what it caches of all that went. Writers wait for space and not for memory: to be called
    /// when none waits any more.
    func forgetWithdrawn() {
        for app in device.apps { environment.volume(of: app.identifier)?.forgetWithdrawn() }
    }

    // MARK: Plans

    /// Purges, with further plans while the target is not reached and something goes.
    /// - Parameter goOn: gets the number of entries that have gone, on one thread at a time; false ends the purge.
    func callAsFunction(_ order: PurgeOrder, goOn: @escaping @Sendable (Int) -> Bool) -> PurgeOutcome {
        device.context.uses.writeDown()
        let caprice = device.caprice
        var outcome = PurgeOutcome()
        for _ in 0..<PurgeRun.mostPlans {
            let running = environment.runningApps
            let candidates = PurgeCandidates(
                on: device, in: environment, only: order.app, leavingOut: order.isReported ? [] : running,
                onlyTemporary: order.isCleaning)
            let plan = PurgePlan(
                candidates.units, running: running,
                demand: PurgeDemand(extent(of: order), of: order.app, isCleaning: order.isCleaning)
            ) { deed, unit in
                // The regular work on `tmp` is no purge, but it is an occasion for the end of one.
                order.isCleaning ? false : caprice?.does(deed, to: unit) ?? false
            }
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
        if let caprice { CapriciousPurge(run: self, caprice: caprice).end(&outcome, of: order) }
        outcome.available = available
        return outcome
    }

    private func extent(of order: PurgeOrder) -> PurgeDemand.Extent {
        switch order.extent {
        case .available(let bytes): .bytes(bytes - available)
        case .everything: .everything
        case .unused(let age): .unused(since: device.context.uses.now.nanoseconds - age)
        }
    }

    /// - Returns: false when `goOn` ended the purge.
    private func carryOut(
        _ plan: PurgePlan, _ candidates: PurgeCandidates, _ order: PurgeOrder, into outcome: inout PurgeOutcome,
        goOn: @escaping @Sendable (Int) -> Bool
    ) -> Bool {
        let batches = PurgeBatches(
            of: plan.chosen.map { (candidates.units[$0.unit], $0) }, purged: outcome.purged.count, goOn: goOn)
        let body: @Sendable (Int, WorkMeter) throws(SystemError) -> Void = { [self] (index, _) throws(SystemError) in
            // Others may have given space back meanwhile.
            guard batches.goesOn, order.target.map({ available < $0 }) ?? true else { return }
            batches.record(space.whileRemoving { carryOut(batches[index], candidates, batches) }, of: index)
        }
        // No batch throws.
        _ = try? ParallelWork.run(
            batches.count, threadsPerProcessor: PurgeBatches.threadsPerProcessor, progress: { _ in true }, body)
        batches.add(to: &outcome, candidates.units)
        return !batches.isEnded
    }

    // MARK: Batches

    /// Takes the entries of a batch from their apps, then removes them. On one of several threads.
    private func carryOut(
        _ batch: PurgeBatches.Batch, _ candidates: PurgeCandidates, _ batches: PurgeBatches
    ) -> PurgeBatches.Result {
        var result = PurgeBatches.Result()
        let items = withdraw(batch, candidates, batches, &result)
        for index in batch.indices {
            guard let item = items[index] else { continue }
            let bytes = trash.remove(item, batches.links, isShared: batches.areFew)
            let choice = batch[index]
            result.purged.append(
                PurgeOutcome.Purged(unit: candidates.units[choice.unit], reason: choice.reason, bytes: bytes))
        }
        environment.record(result.purged)
        recordFreed(result.purged.reduce(0) { $0 + $1.bytes })
        return result
    }

    private struct Place: Hashable {
        let container: Int
        let directory: PurgeableDirectory
    }

    /// Moves the entries of a batch into the trash, directory by directory. At that instant they are gone for apps.
    /// - Returns: the items that were taken, by their index in the batch; the others are in the result.
    private func withdraw(
        _ batch: PurgeBatches.Batch, _ candidates: PurgeCandidates, _ batches: PurgeBatches,
        _ result: inout PurgeBatches.Result
    ) -> [Int: Trash.Item] {
        var items: [Int: Trash.Item] = [:]
        let groups = Dictionary(grouping: batch.indices) { index in
            let unit = batch[index].unit
            return Place(container: candidates.places[unit].container, directory: candidates.units[unit].directory)
        }
        for (place, indices) in groups {
            let entries = indices.map { candidates.entry(batch[$0].unit) }
            let attempt = batches.withTurn {
                withdraw(entries, from: place.directory, of: candidates.containers[place.container])
            }
            for (number, index) in indices.enumerated() {
                switch attempt.outcome(of: number) {
                case .success(let item): items[index] = item
                case .failure(let reason):
                    result.skipped.append(
                        PurgeOutcome.Skipped(unit: candidates.units[batch[index].unit], reason: reason))
                }
            }
        }
        return items
    }

    private enum Attempt {
        case tried([Withdrawal])
        /// None of them may go.
        case kept(PurgeRefusal)

        /// - Parameter number: of the entry among those that were to be taken.
        func outcome(of number: Int) -> Result<Trash.Item, PurgeRefusal> {
            switch self {
            case .kept(let reason): .failure(reason)
            case .tried(let withdrawals):
                switch withdrawals[number] {
                case .taken(let item): .success(item)
                case .open: .failure(.fileOpen)
                case .changed: .failure(.changed)
                case .failed: .failure(.failed)
                }
            }
        }
    }

    /// Takes entries of one directory of one container, unless an app of it has come to run or an operation is at work
    /// on one.
    private func withdraw(
        _ entries: [PurgeableEntry], from directory: PurgeableDirectory, of candidate: PurgeCandidates.Container
    ) -> Attempt {
        let source = candidate.source
        return whileIdle(source.apps) {
            if source.apps.contains(where: { environment.isRunning($0) }) { return .kept(.appRunning) }
            guard isCurrent(source), let place = try? candidate.directory.descriptor.openDirectory(at: directory.path)
            else { return .kept(.changed) }
            let volumes = source.apps.compactMap { environment.volume(of: $0) }
            guard let volume = volumes.first else {
                return .tried(device.context.withdraw(entries, from: place, into: trash))
            }
            // Volumes of an ordinary user's process, of which one is unmounted and still in use.
            guard volumes.allSatisfy({ $0 === volume }) else { return .kept(.appBusy) }
            return .tried(volume.withdraw(entries, from: place, into: trash))
        } ?? .kept(.appBusy)
    }

    /// Whether a container is still that of the same apps: another may have come to have the group.
    func isCurrent(_ source: PurgeCandidates.Source) -> Bool {
        guard source.group != nil else {
            return device.apps.contains { $0.identifier == source.app && $0.data == source.uuid }
        }
        return PurgeCandidates.sources(device.apps).contains { $0.uuid == source.uuid && $0.apps == source.apps }
    }

    /// Carries out a step while no operation is at work on any of some apps.
    /// - Returns: nil if one is.
    func whileIdle<Result>(_ apps: Set<ContainerIdentifier>, _ body: () -> Result) -> Result? {
        whileIdle(apps.sorted()[...], body)
    }

    private func whileIdle<Result>(_ apps: ArraySlice<ContainerIdentifier>, _ body: () -> Result) -> Result? {
        guard let first = apps.first else { return body() }
        return environment.whileIdle(first) { whileIdle(apps.dropFirst(), body) } ?? nil
    }
}
