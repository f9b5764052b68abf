// The work of a device's days: done when it is due, and at once by an advance of the clock.

import AppContainer
import BackingStore
import DeviceLifecycle
import FoundationEssentials
import Logging
import Platform
import Purging
import SandboxModel
import Synchronization

/// Does the work that a device does by itself, and moves its clock.
///
/// Locks: `turn` is held while work is done or the clock moves, by one thread at a time, before the operations and all
/// locks of the device. `appointment` and `settings` are held for moments only.
final class DayWork: Sendable {
    private let device: BootedDevice
    private let locking: LockController
    private let mounts: Mounts
    private let purger: Purger
    private let timers = Timers.host
    private let events: EventLog
    private let log: Logger
    private let turn = Mutex(())
    /// As the record has them, but for the work of an advance that is under way.
    private let settings: Mutex<DaySettings>
    /// When a device that was never looked through is: an item may be old already.
    private let firstCleaning: Int64
    /// The number of the last appointment with the timers: an earlier one is void.
    private let appointment = Mutex<(number: Int, isEnding: Bool)>((0, false))

    private var clock: DeviceClock { device.clock }

    /// Makes a scheduled backup at a path of the host.
    typealias BackUp = (_ path: String) throws(Complaint) -> Void

    init(
        _ device: BootedDevice, locking: LockController, mounts: Mounts, purger: Purger, events: EventLog, log: Logger
    ) {
        self.device = device
        self.locking = locking
        self.mounts = mounts
        self.purger = purger
        self.events = events
        self.log = log
        settings = Mutex(device.directory.settings.day ?? DaySettings())
        firstCleaning = device.clock.now.nanoseconds + DayPlan.day / 24
    }

    // MARK: The plan

    /// The plan as of now.
    var plan: DayPlan {
        var settings = settings.withLock { $0 }
        settings.nextCleaning = settings.nextCleaning ?? firstCleaning
        let lock = locking.graceRemaining.map { clock.now.nanoseconds + Int64($0 * 1e9) }
        return DayPlan(
            settings: settings, isLocked: !device.hasPasscode || locking.deviceState == .locked, lock: lock)
    }

    /// Changes the settings of the days, durably.
    func change(_ body: (inout DaySettings) -> Void) throws(Complaint) {
        let changed = settings.withLock { settings in
            body(&settings)
            return settings
        }
        try device.changeDay { $0 = changed }
    }

    /// Changes them until the next durable change: an advance of a year writes once.
    private func remember(_ body: (inout DaySettings) -> Void) {
        settings.withLock { body(&$0) }
    }

    // MARK: In real time

    /// Makes an appointment with the timers for the next work. To be called after every change of what is due.
    func arrange(_ backUp: @escaping @Sendable (String) throws(Complaint) -> Void) {
        let number = appointment.withLock { appointment -> Int? in
            appointment.number += 1
            return appointment.isEnding ? nil : appointment.number
        }
        let (now, plan) = (clock.now.nanoseconds, plan)
        guard let number, var time = plan.withoutLock.next(at: now)?.time else { return }
        // The lock has a timer of its own; a backup may wait for it.
        if let lock = plan.lock, plan.nextBackup != nil { time = min(time, lock + DayPlan.second) }
        timers.start(after: .nanoseconds(min(time - now, DayPlan.day))) { [weak self] in
            guard let self, self.appointment.withLock({ $0.number == number && !$0.isEnding }) else { return }
            self.doDue(backUp)
            self.arrange(backUp)
        }
    }

    /// Makes no more appointments, and waits for the work that is under way.
    func end() {
        appointment.withLock { $0.isEnding = true }
        turn.withLock { _ in }
    }

    private func doDue(_ backUp: BackUp) {
        turn.withLock { _ in
            while let due = plan.withoutLock.next(at: clock.now.nanoseconds), due.time <= clock.now.nanoseconds {
                _ = carryOut(due, isLast: true, backUp)
                try? change { _ in }
            }
        }
    }

    // MARK: The clock

    /// Advances the clock. The work that is due meanwhile is done in its order.
    /// - Parameter seconds: not negative.
    /// - Returns: the events of that work.
    /// - Throws: ``Complaint`` of kind `badRequest` beyond a hundred years, or that of a backup that failed; then the
    ///   clock is advanced all the same.
    func advance(by seconds: Int64, _ backUp: BackUp) throws(Complaint) -> [Event] {
        try turn.withLock { _ throws(Complaint) in
            let ahead = clock.ahead + seconds * DayPlan.second
            guard DaySettings.aheads.contains(ahead) else {
                throw Complaint(.badRequest, "the clock is at most a hundred years ahead; set it back with: real")
            }
            let target = clock.now.nanoseconds + seconds * DayPlan.second
            var happened: [Event] = []
            var failure: Complaint?
            while let due = plan.next(at: clock.now.nanoseconds), due.time <= target {
                pass(due.time - clock.now.nanoseconds)
                // A later one takes the place of a backup that nobody can look at.
                let isLast = due.work != .backup || due.time + DayPlan.day > target
                let outcome = carryOut(due, isLast: isLast, until: target, backUp)
                happened += outcome.events
                failure = failure ?? outcome.failure
            }
            pass(target - clock.now.nanoseconds)
            let reached = clock.ahead
            try change { $0.ahead = reached }
            if let failure { throw failure }
            return happened
        }
    }

    /// Sets the clock to the host's time.
    func useRealClock() throws(Complaint) {
        try turn.withLock { _ throws(Complaint) in
            let ahead = clock.ahead
            clock.ahead = 0
            try change { day in
                day.ahead = nil
                // They were by the other clock.
                day.lastBackup = day.lastBackup.map { min($0, HostTime.now.nanoseconds) }
                day.nextCleaning = day.nextCleaning.map { $0 - ahead }
            }
        }
    }

    /// Lets time pass, in which nothing is due.
    private func pass(_ nanoseconds: Int64) {
        guard nanoseconds > 0 else { return }
        clock.ahead += nanoseconds
        locking.pass(.nanoseconds(nanoseconds))
    }

    // MARK: The work

    /// The event with the device's time, where that is not the host's.
    private func dated(_ event: Event) -> Event {
        var event = event
        if clock.ahead != 0 { event.deviceTime = EventTime.text(clock.now) }
        return event
    }

    /// - Parameters:
    ///   - isLast: whether a backup is written.
    ///   - target: the end of the advance that is under way; 0 for none.
    private func carryOut(
        _ due: DayPlan.Due, isLast: Bool, until target: Int64 = 0, _ backUp: BackUp
    ) -> (events: [Event], failure: Complaint?) {
        switch due.work {
        case .lock:
            // ``pass(_:)`` has done it.
            return ([dated(Event(.locked))], nil)
        case .backup: return makeBackup(isLast: isLast, backUp)
        case .cleaning: return (clean(until: target), nil)
        }
    }

    private func makeBackup(isLast: Bool, _ backUp: BackUp) -> (events: [Event], failure: Complaint?) {
        guard let directory = plan.settings.backupDirectory else { return ([], nil) }
        let now = clock.now
        let path = "\(directory)/\(EventTime.fileName(now))"
        var event = dated(Event(.backedUp, path: path))
        var failure: Complaint?
        if isLast {
            do throws(Complaint) {
                try backUp(path)
                log.info("made the scheduled backup \(path)")
            } catch {
                log.error("the scheduled backup \(path) failed: \(error.message)")
                event.errno = error.kind.errorName
                event.reason = error.message
                failure = Complaint(
                    error.kind, "the clock is advanced, but a scheduled backup failed: \(error.message)")
            }
        } else {
            event.reason = "replaced by the next one"
        }
        events.record(event)
        // Also after a failure: the next attempt is a day later.
        remember { $0.lastBackup = now.nanoseconds }
        return ([event], failure)
    }

    /// Removes the items of `tmp` that were not used for three days, of apps that do not run.
    /// - Parameter target: the end of the advance that is under way; 0 for none.
    private func clean(until target: Int64) -> [Event] {
        let now = clock.now.nanoseconds
        guard let outcome = purger.purge(.cleaning(unusedFor: DayPlan.oldAge), goOn: { _ in true }) else { return [] }
        // The next look at a mount is to see that they are gone.
        mounts.waitForKernel()
        purger.forgetWithdrawn()
        // Nothing that is new can be old before; what is in use may not be any more a day later.
        var next = now + DayPlan.oldAge
        // An advance of a year looks twice where there is nothing.
        if outcome.skipped.isEmpty, now < target { next = max(next, target) }
        for skipped in outcome.skipped {
            let isYoung = skipped.reason == .usedRecently
            next = min(next, isYoung ? skipped.unit.lastUse + DayPlan.oldAge + 1 : now + DayPlan.day)
        }
        remember { $0.nextCleaning = max(next, now + DayPlan.second) }
        // A device that disobeys may have taken more.
        return outcome.purged.filter { $0.reason == .old }.map { purged in
            dated(Event(.cleaned, app: purged.unit.app.text, path: purged.unit.path, size: purged.bytes))
        }
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

extension DayPlan {
    /// The plan of what has no timer of its own.
    var withoutLock: DayPlan { DayPlan(settings: settings, isLocked: isLocked, lock: nil) }
}
