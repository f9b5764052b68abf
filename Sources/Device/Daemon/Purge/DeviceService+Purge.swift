// Purging by command, and the purger's life.

import AppContainer
import BackingStore
import DeviceLifecycle
import FoundationEssentials
import Glibc
import Logging
import Platform
import SandboxModel
import SandboxPolicy

extension DeviceService {
    /// Starts the purger, which removes first what an earlier session has purged and not come to remove.
    func startPurging() throws(Complaint) {
        let (device, log) = (device, log)
        try Complaint.wrap("cannot prepare purging on \(device.directory.path)") { () throws(SystemError) in
            let (mounts, purger) = (mounts, purger)
            let run = PurgeRun(
                device: device, trash: try Trash(in: device.directory.root, space: device.context.space),
                operations: operations, running: running, volume: { mounts.volumeBehind($0) },
                purged: { [events] purged in
                    events.record(
                        purged.map { purged in
                            Event(
                                .purged, app: purged.unit.app.text, path: purged.unit.path, size: purged.bytes,
                                reason: purged.reason.rawValue)
                        })
                }, freed: { purger.note(freed: $0) })
            try purger.start(run) { goOn in
                do throws(SystemError) {
                    try device.directory.emptyTrash(while: goOn)
                } catch {
                    log.warning("cannot remove what was purged: \(error.message)")
                }
            }
        }
        device.context.space.reliever = purger
    }

    func endPurging() {
        device.context.space.reliever = nil
        purger.stop()
        device.context.uses.writeDown()
    }

    func purge(_ request: PurgeRequest, progress: @escaping ProgressReport) throws(Complaint) -> PurgeReport {
        var app: ContainerIdentifier?
        if let text = request.app { app = try device.app(try identifier(text)).identifier }
        let order = PurgeOrder(extent(of: request), app: app, isDryRun: request.dryRun ?? false)
        let outcome = try operations.run { () throws(Complaint) in
            var outcome = try purge(order, progress)
            if outcome.skipped.contains(where: { $0.reason == .fileOpen }) {
                // close(2) returns before the kernel has told of it: what was closed just now counts as open a moment
                // longer.
                usleep(DeviceService.closingTime)
                let second = try purge(order, progress)
                outcome = order.isDryRun ? second : outcome.followed(by: second)
            }
            // Whoever looks next is to see what went. Nobody has to wait for the memory.
            mounts.waitForKernel()
            purger.forgetWithdrawn()
            return outcome
        }
        if !order.isDryRun {
            log.info("purged \(outcome.purged.count) entries", metadata: ["bytes": "\(outcome.freed)"])
        }
        return PurgeReport(outcome, target: order.target)
    }

    /// Microseconds in which the kernel tells of a close.
    private static let closingTime: UInt32 = 20_000

    private func purge(
        _ order: PurgeOrder, _ progress: @escaping ProgressReport
    ) throws(Complaint) -> PurgeOutcome {
        let outcome = purger.purge(order) { [self] done in
            report(DeviceProgress(unit: .files, completed: Int64(done), total: nil), "purging", to: progress)
        }
        guard let outcome else { throw Complaint(.shuttingDown, "the device is shutting down; try again") }
        return outcome
    }

    private func extent(of request: PurgeRequest) -> PurgeOrder.Extent {
        if let bytes = request.free { return .available(bytes) }
        if let age = request.olderThan { return .unused(for: age * 1_000_000_000) }
        switch request.level ?? .warning {
        case .warning: return .available(device.context.space.highWater)
        case .critical: return .everything
        }
    }
}

extension PurgeReport {
    fileprivate init(_ outcome: PurgeOutcome, target: Int64?) {
        self.init(
            purged: outcome.purged.map { Entry($0.unit, size: $0.bytes, reason: $0.reason.rawValue) },
            skipped: outcome.skipped.map { Entry($0.unit, size: $0.unit.bytes, reason: $0.reason.rawValue) },
            freed: outcome.freed, available: outcome.available, target: target)
    }
}

extension PurgeReport.Entry {
    fileprivate init(_ unit: PurgeUnit, size: Int64, reason: String) {
        self.init(
            app: unit.app.text, path: unit.path, size: size, lastUse: PurgeReport.Entry.text(unit.lastUse),
            reason: reason)
    }

    /// - Parameter time: nanoseconds since 1970; the least of all where nothing is known.
    private static func text(_ time: Int64) -> String? {
        guard time != .min else { return nil }
        let date = Date(timeIntervalSince1970: Double(time) / 1e9)
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

extension SpaceStatus {
    /// Looks for what is purgeable, which may take a while.
    init(_ space: SpaceLedger) {
        let figures = space.figures
        let purgeable = space.purgeable
        self.init(
            capacity: figures.total, used: space.used, available: figures.available, purgeable: purgeable,
            availableForImportantUsage: min(figures.available + purgeable, figures.total),
            availableForOpportunisticUsage: space.available(for: .opportunistic))
    }
}
