// The tasks of a device's days: a lock that is due, a scheduled backup, the removal of old items of tmp.

import AppContainer
import BackingStore
import DeviceLifecycle
import Logging
import Platform
import Purging
import SandboxModel

/// Does what is due on a device, and records that it was done. Blocks as long as that takes.
struct DayTasks: Sendable {
    /// Makes a scheduled backup at a path of the host.
    typealias BackUp = @Sendable (_ path: String) throws(Complaint) -> Void

    /// The end of a task.
    struct Outcome {
        var events: [Event] = []
        /// Of a backup.
        var failure: Complaint?
    }

    let device: BootedDevice
    let record: DayRecord
    let locking: LockController
    let mounts: Mounts
    let purger: Purger
    let events: EventLog
    let log: Logger

    private var clock: DeviceClock { device.clock }

    /// Names of one time that are tried.
    private static let mostNames = 100

    /// - Parameter target: the time to which an advance moves the clock; nil for a task that is due now.
    /// - Throws: ``Complaint`` of kind `shuttingDown` when the device ends before the task has; it is due then as
    ///   before.
    func carryOut(_ due: DayPlan.Due, until target: Int64?, _ backUp: BackUp) throws(Complaint) -> Outcome {
        switch due.work {
        case .lock: lock()
        case .backup: try makeBackup(isWritten: due.isWritten(until: target), backUp)
        case .cleaning: Outcome(events: try clean(until: target))
        }
    }

    /// The event with the device's time, where that is not the host's.
    private func dated(_ event: Event) -> Event {
        var event = event
        if clock.ahead != 0 { event.deviceTime = EventTime.text(clock.now) }
        return event
    }

    /// The lock of a grace period that is over: the clock's move has it carried out, unless an unlock came first.
    private func lock() -> Outcome {
        locking.pass(.zero)
        locking.waitForChange()
        return Outcome(events: locking.deviceState == .locked ? [dated(Event(.locked))] : [])
    }

    private func makeBackup(isWritten: Bool, _ backUp: BackUp) throws(Complaint) -> Outcome {
        guard let directory = record.current.backupDirectory else { return Outcome() }
        let now = clock.now
        var outcome = Outcome()
        var event = dated(Event(.backedUp))
        if isWritten {
            let name = "\(directory)/\(EventTime.fileName(now))"
            do throws(Complaint) {
                event.path = try write(name, backUp)
            } catch {
                guard error.kind != .shuttingDown else { throw error }
                log.error("the scheduled backup \(name) failed: \(error.message)")
                event.path = name
                event.errno = error.kind.errorName
                event.reason = error.message
                outcome.failure = Complaint(
                    error.kind, "the clock is advanced, but a scheduled backup failed: \(error.message)")
            }
        } else {
            event.reason = "replaced by a later one"
        }
        events.record(event)
        outcome.events.append(event)
        // Also after a failure: the next attempt is a day later.
        record.remember { $0.lastBackup = now.nanoseconds }
        return outcome
    }

    /// Writes a backup. A clock that was set back comes to a time again, whose name is taken: then the name gets a
    /// number.
    /// - Returns: its path.
    private func write(_ name: String, _ backUp: BackUp) throws(Complaint) -> String {
        var path = name
        for number in 2... {
            do throws(Complaint) {
                try backUp(path)
                break
            } catch {
                guard error.kind == .fileExists, number <= DayTasks.mostNames else { throw error }
                path = "\(name)-\(number)"
            }
        }
        log.info("made the scheduled backup \(path)")
        return path
    }

    /// Removes the items of `tmp` that were not used for three days, of apps that do not run.
    private func clean(until target: Int64?) throws(Complaint) -> [Event] {
        let now = clock.now.nanoseconds
        guard let outcome = purger.purge(.cleaning(unusedFor: DayPlan.oldAge), goOn: { _ in true }) else {
            throw Complaint(.shuttingDown, "the device is shutting down; try again")
        }
        // The next look at a mount is to see that they are gone.
        mounts.waitForKernel()
        purger.forgetWithdrawn()
        let skipped = outcome.skipped.map { skipped in
            skipped.reason == .usedRecently ? skipped.unit.lastUse + DayPlan.oldAge + 1 : nil
        }
        let next = DayPlan.nextCleaning(after: now, until: target, due: skipped, daily: device.caprice != nil)
        record.remember { $0.nextCleaning = next }
        // A device that disobeys may have taken more.
        return outcome.purged.filter { $0.reason == .old }.map { dated(Event(cleaned: $0)) }
    }
}

extension Complaint.Kind {
    /// The error number of a backup that failed so.
    fileprivate var errorName: String {
        switch self {
        case .noSpace: "ENOSPC"
        case .notFound: "ENOENT"
        case .notAllowed: "EACCES"
        default: "EIO"
        }
    }
}
