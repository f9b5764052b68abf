// The work of a device's days: done when it is due, and at once by an advance of the clock.

import AppContainer
import BackingStore
import DeviceLifecycle
import Platform
import SandboxModel
import Synchronization

/// Has the work done that a device does by itself, and moves its clock.
///
/// Locks: `turn` is held while work is done or the clock moves, by one thread at a time, before the operations and all
/// locks of the device. `appointment` and `backUp` are held for moments only.
final class DayWork: Sendable {
    private struct Appointment {
        var cancel: Timers.Cancellation = {}
        /// By the timers' clock; nil for none.
        var time: ContinuousClock.Instant?
        var isEnding = false
    }

    private let tasks: DayTasks
    private let lifecycle: AppLifecycle
    private let timers: Timers
    private let backUp = Mutex<DayTasks.BackUp>({ _ in })
    private let turn = Mutex(())
    private let appointment = Mutex(Appointment())

    private var clock: DeviceClock { tasks.device.clock }
    private var locking: LockController { tasks.locking }
    private var record: DayRecord { tasks.record }

    init(_ tasks: DayTasks, lifecycle: AppLifecycle, timers: Timers = .host) {
        self.tasks = tasks
        self.lifecycle = lifecycle
        self.timers = timers
    }

    /// Begins to do the work.
    /// - Parameter backUp: makes a scheduled backup.
    func begin(_ backUp: @escaping DayTasks.BackUp) {
        self.backUp.withLock { $0 = backUp }
        arrange()
    }

    /// The plan as of now. A pending lock is in it, though it has a timer of its own.
    var plan: DayPlan {
        // Up, so that the lock is due when the clock has moved there.
        let lock = locking.graceRemaining.map { clock.now.nanoseconds + Int64(($0 * 1e9).rounded(.up)) + 1_000 }
        return DayPlan(
            settings: record.current, lock: lock,
            protection: tasks.device.hasPasscode ? locking.deviceState : .locked)
    }

    /// Changes the settings of the days, durably.
    func change(_ body: (inout DaySettings) -> Void) throws(Complaint) { try record.change(body) }

    // MARK: In real time

    /// Makes an appointment with the timers for the next work. To be called after every change of what is due.
    func arrange() {
        let (now, plan) = (clock.now.nanoseconds, plan)
        // A lock has a timer of its own, and calls this when it has happened.
        guard let due = plan.withoutLock.next(at: now) else { return }
        // At least once a day: the host's clock may be set.
        let time = timers.now + .nanoseconds(min(due.time - now, DayPlan.day))
        appointment.withLock { appointment in
            // An earlier one calls this again.
            guard !appointment.isEnding, appointment.time.map({ time < $0 }) ?? true else { return }
            appointment.cancel()
            appointment.time = time
            appointment.cancel = timers.start(after: time - timers.now) { [weak self] in self?.keepAppointment() }
        }
    }

    private func keepAppointment() {
        appointment.withLock { $0.time = nil }
        turn.withLock { _ in
            while !isEnding, let due = plan.withoutLock.next(at: clock.now.nanoseconds),
                due.time <= clock.now.nanoseconds
            {
                guard (try? carryOut(due, until: nil)) != nil else { return }
                // A state that could not be stored is that of before after the next start: the work is done again.
                try? change { _ in }
            }
        }
        arrange()
    }

    /// Makes no more appointments, and waits for the work that is under way, which ends early.
    func end() {
        appointment.withLock { appointment in
            appointment.isEnding = true
            appointment.cancel()
            appointment.cancel = {}
        }
        turn.withLock { _ in }
    }

    private var isEnding: Bool { appointment.withLock { $0.isEnding } }

    /// - Throws: ``Complaint`` of kind `shuttingDown`.
    private func requireTime() throws(Complaint) {
        guard !isEnding else { throw Complaint(.shuttingDown, "the device is shutting down; try again") }
    }

    private func carryOut(_ due: DayPlan.Due, until target: Int64?) throws(Complaint) -> DayTasks.Outcome {
        try tasks.carryOut(due, until: target, backUp.withLock { $0 })
    }

    // MARK: The clock

    /// Advances the clock. The work that is due meanwhile is done in its order.
    /// - Parameter seconds: not negative.
    /// - Returns: the events of that work.
    /// - Throws: ``Complaint`` of kind `badRequest` beyond a hundred years, `shuttingDown`, or that of a backup that
    ///   failed; then the clock is advanced all the same.
    func advance(by seconds: Int64) throws(Complaint) -> [Event] {
        try turn.withLock { _ throws(Complaint) in
            try requireTime()
            guard ClockHistory.aheads.contains(clock.ahead + seconds * DayPlan.second) else {
                throw Complaint(.badRequest, "the clock is at most a hundred years ahead; set it back with: real")
            }
            clock.beginMove()
            let target = clock.now.nanoseconds + seconds * DayPlan.second
            var happened: [Event] = []
            var failure: Complaint?
            while let due = plan.next(at: clock.now.nanoseconds), due.time <= target {
                try requireTime()
                pass(due.time - clock.now.nanoseconds)
                let outcome = try carryOut(due, until: target)
                happened += outcome.events
                failure = failure ?? outcome.failure
            }
            pass(target - clock.now.nanoseconds)
            try requireTime()
            try change { _ in }
            if let failure { throw failure }
            return happened
        }
    }

    /// Sets the clock to the host's time.
    /// - Throws: ``Complaint`` of kind `shuttingDown`, or that of a record that could not be written.
    func useRealClock() throws(Complaint) {
        try turn.withLock { _ throws(Complaint) in
            try requireTime()
            let ahead = clock.ahead
            try change { day in
                day.clock = nil
                // They were by the other clock.
                day.lastBackup = day.lastBackup.map { min($0, HostTime.now.nanoseconds) }
                day.nextCleaning = day.nextCleaning.map { max(0, $0 - ahead) }
            }
            clock.reset()
        }
    }

    /// Lets time pass, in which nothing is due.
    private func pass(_ nanoseconds: Int64) {
        guard nanoseconds > 0 else { return }
        clock.advance(by: nanoseconds)
        let history = clock.history
        record.remember { $0.clock = history }
        locking.pass(.nanoseconds(nanoseconds))
        lifecycle.pass(.nanoseconds(nanoseconds))
    }
}

extension DayPlan {
    /// The plan of what has no timer of its own.
    var withoutLock: DayPlan { DayPlan(settings: settings, lock: nil, protection: protection) }
}
