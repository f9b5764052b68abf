// The commands and the life of the purger, which the module Purging holds.

import AppContainer
import BackingStore
import DeviceLifecycle
import Glibc
import Logging
import Platform
import Purging
import SandboxModel

extension DeviceService {
    /// Starts the purger. From then on writers without space wait for it.
    func startPurging() throws(Complaint) {
        try purger.start()
        device.context.space.reliever = purger
    }

    /// Ends the purger, and writes down when caches were used last.
    func endPurging() {
        device.context.space.reliever = nil
        purger.stop()
        device.context.uses.writeDown()
    }

    /// Purges by command.
    /// - Throws: ``Complaint`` of kind `unknownApp` or `shuttingDown`.
    func purge(_ request: PurgeRequest, progress: @escaping ProgressReport) throws(Complaint) -> PurgeReport {
        var app: ContainerIdentifier?
        if let text = request.app { app = try device.app(try identifier(text)).identifier }
        let order = PurgeOrder(extent(of: request), app: app, isDryRun: request.dryRun ?? false)
        let outcome = try operations.run { () throws(Complaint) in
            let outcome = try purge(order, progress)
            // The next look at a mount is to see that the entries are gone. The memory may come free later.
            mounts.waitForKernel()
            purger.forgetWithdrawn()
            return outcome
        }
        if !order.isDryRun {
            log.info("purged \(outcome.purged.count) entries", metadata: ["bytes": "\(outcome.freed)"])
        }
        return PurgeReport(outcome, target: order.target)
    }

    /// - Throws: ``Complaint`` of kind `shuttingDown`.
    private func purge(
        _ order: PurgeOrder, _ progress: @escaping ProgressReport
    ) throws(Complaint) -> PurgeOutcome {
        let outcome = purger.purge(order) { [self] done in
            report(DeviceProgress(unit: .files, completed: Int64(done), total: nil), "purging", to: progress)
        }
        guard let outcome else { throw Complaint(.shuttingDown, "the device is shutting down; try again") }
        return outcome
    }

    /// How much a request asks for; without a word of that up to the high-water mark.
    private func extent(of request: PurgeRequest) -> PurgeOrder.Extent {
        if let bytes = request.free { return .available(bytes) }
        if let age = request.olderThan { return .unused(for: age * 1_000_000_000) }
        let level: PurgeOrder.Level = (request.level ?? .warning) == .critical ? .critical : .warning
        return level.extent(of: device.context.space)
    }
}

extension PurgeReport {
    /// - Parameter target: the bytes that were to be available; nil for an order without a number.
    fileprivate init(_ outcome: PurgeOutcome, target: Int64?) {
        self.init(
            purged: outcome.purged.map { Entry($0.unit, size: $0.bytes, reason: $0.reason.rawValue) },
            skipped: outcome.skipped.map { Entry($0.unit, size: $0.unit.bytes, reason: $0.reason.rawValue) },
            freed: outcome.freed, available: outcome.available, target: target)
    }
}

extension PurgeReport.Entry {
    /// - Parameter size: bytes that came free, or would.
    fileprivate init(_ unit: PurgeUnit, size: Int64, reason: String) {
        self.init(
            app: unit.app.text, path: unit.path, size: size, lastUse: PurgeReport.Entry.text(unit.lastUse),
            reason: reason)
    }

    /// - Parameter time: nanoseconds since 1970; the smallest number where nothing is known.
    private static func text(_ time: Int64) -> String? {
        guard time != .min else { return nil }
        return EventTime.text(HostTime(nanoseconds: time))
    }
}

extension SpaceStatus {
    /// The figures now. Counting the purgeable bytes may walk containers.
    init(_ space: SpaceLedger) {
        let figures = space.figures
        let purgeable = space.purgeable
        self.init(
            capacity: figures.total, used: space.used, available: figures.available, purgeable: purgeable,
            availableForImportantUsage: min(figures.available + purgeable, figures.total),
            availableForOpportunisticUsage: space.available(for: .opportunistic))
    }
}
