// The device between unlocked, locking, locked and before first unlock: who may change that, and when.
// Locks: `changes` is held for the whole of a lock, an unlock or a restart; that of `state` below it, for moments only.

import BackingStore
import ContainerMount
import DeviceLifecycle
import Platform
import SandboxModel
import Synchronization

/// Locks, unlocks and restarts a device with its mounts.
final class LockController: Sendable {
    /// What happened, for the record of events.
    enum Change: Sendable {
        case willBecomeUnavailable, locked, unlocked, didBecomeAvailable, restarted
    }

    private struct State {
        var schedule = LockSchedule()
        var nextWaiter = 0
        /// Requests that wait for a lock, by a number of their own. They hold no thread.
        var waiters: [Int: (lock: Int, continuation: CheckedContinuation<LockSchedule.Outcome?, Never>)] = [:]
    }

    private let device: Device
    private let mounts: Mounts
    private let report: @Sendable (Change) -> Void
    private let changes = Mutex(())
    private let state = Mutex(State())

    init(device: Device, mounts: Mounts, report: @escaping @Sendable (Change) -> Void) {
        self.device = device
        self.mounts = mounts
        self.report = report
    }

    /// The device's state for a client: `locked` only when the keys are gone, and not while they are being taken.
    var deviceState: DeviceState {
        state.withLock { state in
            device.deviceState == .locked && state.schedule.isUnderWay ? .locking : device.deviceState
        }
    }

    /// Seconds until an announced lock; nil when none is pending.
    var graceRemaining: Double? {
        state.withLock { $0.schedule.remaining(at: .now) }.map { $0 / .seconds(1) }
    }

    /// The number of requests that wait for a lock.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Changes the schedule, and wakes the requests whose lock has come to its outcome.
    private func change<Result>(_ body: (inout LockSchedule) -> Result) -> Result {
        let (result, woken) = state.withLock { state in
            let result = body(&state.schedule)
            var woken: [(CheckedContinuation<LockSchedule.Outcome?, Never>, LockSchedule.Outcome)] = []
            for (waiter, (lock, continuation)) in state.waiters {
                guard let outcome = state.schedule.outcome(of: lock) else { continue }
                state.waiters[waiter] = nil
                woken.append((continuation, outcome))
            }
            return (result, woken)
        }
        for (continuation, outcome) in woken { continuation.resume(returning: outcome) }
        return result
    }

    // MARK: Lock

    /// - Parameters:
    ///   - now: skip the grace period, also one that is under way.
    ///   - waits: return when the device is locked, not when the lock is announced.
    /// - Throws: ``Complaint`` of kind `noPasscode`, or `lockCancelled` by an unlock during the grace period.
    func lock(now: Bool, waits: Bool) async throws(Complaint) {
        try requirePasscode()
        if now {
            // Takes the keys out of use, which blocks.
            let result = await WorkQueue().run { Result { () throws(Complaint) in try self.lockNow() } }
            return try result.get()
        }
        guard let lock = announce(after: device.directory.settings.lockGraceSeconds), waits else { return }
        guard await outcome(of: lock) != .cancelled else {
            throw Complaint(.lockCancelled, "the device was unlocked during the grace period, which cancelled the lock")
        }
    }

    private func requirePasscode() throws(Complaint) {
        guard device.hasPasscode else { throw .noPasscode(device.directory.path) }
    }

    private func lockNow() throws(Complaint) {
        while let lock = announce(after: nil) {
            finish(lock)
            // An unlock that was under way has cancelled it: the lock comes after that.
            guard state.withLock({ $0.schedule.outcome(of: lock) }) != .locked else { return }
            try requirePasscode()
        }
    }

    /// - Parameter grace: seconds; nil for no grace period, also where one is under way.
    /// - Returns: the number of the lock that is on its way, or was the last; nil before first unlock.
    private func announce(after grace: Double?) -> Int? {
        let (lock, isNew) = change { schedule -> (Int?, Bool) in
            switch device.deviceState {
            case .beforeFirstUnlock: return (nil, false)
            // The keys of a device that nothing can be opened on any more may be in use still: that lock is joined.
            case .locking, .locked: return (schedule.last, false)
            case .unlocked: break
            }
            device.beginLocking()
            return (schedule.announce(for: .now + .seconds(grace ?? 0)), true)
        }
        guard let lock, isNew else { return lock }
        report(.willBecomeUnavailable)
        if let grace {
            WorkQueue().start(after: .seconds(grace)) { [weak self] in self?.finish(lock) }
        }
        return lock
    }

    /// Locks the device, unless the lock has happened or was cancelled. Blocks.
    private func finish(_ lock: Int) {
        changes.withLock { _ in
            let isDue = change { schedule in
                guard schedule.isPending(lock) else { return false }
                guard device.hasPasscode else { return true }
                schedule.begin()
                device.closeToNew()
                return true
            }
            guard isDue else { return }
            // It was removed after the lock was announced: nothing would unlock the device again.
            guard device.hasPasscode else { return becomeUnlocked() }
            mounts.lock(takeKeys: { device.takeKeys() })
            report(.locked)
            change { $0.complete(lock) }
        }
    }

    /// Waits for a lock to happen, or to be cancelled.
    /// - Returns: nil when the task was cancelled first: its client has gone.
    private func outcome(of lock: Int) async -> LockSchedule.Outcome? {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> LockSchedule.Outcome?? in
                    if let outcome = state.schedule.outcome(of: lock) { return outcome }
                    guard !Task.isCancelled else { return .some(nil) }
                    state.waiters[waiter] = (lock, continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.continuation.resume(returning: nil)
        }
    }

    // MARK: Unlock

    /// Gives the passcode; ends a grace period. Takes as long as the keybag's cost says.
    /// - Throws: as ``DeviceLifecycle/Device/unlock(passcode:)``.
    func unlock(passcode: String) throws(Complaint) {
        try changes.withLock { _ throws(Complaint) in
            guard device.hasPasscode else { return }
            try device.unlock(passcode: Array(passcode.utf8))
            becomeUnlocked()
        }
    }

    /// Sets, changes or removes the passcode. Without one the device is unlocked.
    func changePasscode(_ body: (Device) throws(Complaint) -> Void) throws(Complaint) {
        try changes.withLock { _ throws(Complaint) in
            try body(device)
            if !device.hasPasscode { becomeUnlocked() }
        }
    }

    /// The keys are in the ring. The caller holds `changes`.
    private func becomeUnlocked() {
        let before = change { schedule in
            schedule.cancel()
            defer { device.becomeUnlocked() }
            return device.deviceState
        }
        guard before != .unlocked else { return }
        mounts.reportLosses()
        // A lock that was cancelled was announced, and has not happened.
        if before != .locking { report(.unlocked) }
        report(.didBecomeAvailable)
    }

    // MARK: Restart

    /// - Throws: ``Complaint`` of kind `unexpected` after as many restarts as can be told apart.
    func restart() throws(Complaint) {
        try changes.withLock { _ throws(Complaint) in
            guard mounts.canRestart else {
                throw Complaint(
                    .unexpected,
                    "the device was restarted too often since it was started; shut it down and mount again")
            }
            if device.hasPasscode, device.deviceState == .unlocked { report(.willBecomeUnavailable) }
            mounts.restart(forget: {
                change { schedule in
                    schedule.restart()
                    device.forgetAsAfterBoot()
                }
            })
            report(.restarted)
        }
    }
}
