// The transitions of a device between unlocked, locking, locked and before first unlock.

import BackingStore
import ContainerMount
import DeviceLifecycle
import Platform
import SandboxModel
import Synchronization

/// Locks, unlocks and restarts a device with its mounts, one at a time.
///
/// Locks: `changes` is held for the whole of a lock, an unlock or a restart; below it those of the mounts, and that of
/// ``ScheduledLocks``, for moments only. The device's state changes under the latter, so that it agrees with the
/// schedule.
final class LockController: Sendable {
    /// A change of the state, for the record of events.
    enum Change: Sendable {
        case willBecomeUnavailable, locked, unlocked, didBecomeAvailable, restarted
    }

    private let device: BootedDevice
    private let mounts: Mounts
    private let timers: Timers
    private let report: @Sendable (Change) -> Void
    /// See the type. One thread at a time locks, unlocks, restarts or changes the passcode.
    private let changes = Mutex(())
    private let locks = ScheduledLocks()
    /// Called after a change of the state, without a lock. The lock is a leaf.
    private let observer = Mutex<@Sendable () -> Void>({})

    init(
        device: BootedDevice, mounts: Mounts, timers: Timers = .host, report: @escaping @Sendable (Change) -> Void
    ) {
        self.device = device
        self.mounts = mounts
        self.timers = timers
        self.report = report
    }

    /// The device's state for a client: `locking` until the keys are gone.
    var deviceState: DeviceState {
        locks.read { schedule in
            device.deviceState == .locked && schedule.isUnderWay ? .locking : device.deviceState
        }
    }

    /// Seconds until an announced lock; nil when none is pending.
    var graceRemaining: Double? {
        locks.read { $0.remaining(at: timers.now) }.map { $0 / .seconds(1) }
    }

    /// The number of requests that wait for a lock.
    var waiting: Int { locks.waiting }

    /// Has a body called after each change of the state that has come to its end. It may block.
    func whenChanged(_ body: @escaping @Sendable () -> Void) { observer.withLock { $0 = body } }

    private func tellObserver() { observer.withLock { $0 }() }

    /// Waits for the change that is under way.
    func waitForChange() { changes.withLock { _ in } }

    // MARK: Lock

    /// Locks the device.
    /// - Parameters:
    ///   - now: skip the grace period, also one that is under way.
    ///   - waits: return when the device is locked, not when the lock is announced.
    /// - Throws: ``Complaint`` of kind `noPasscode`, or `lockCancelled` by an unlock during the grace period.
    func lock(now: Bool, waits: Bool) async throws(Complaint) {
        try requirePasscode()
        if now {
            // Taking the keys blocks.
            let result = await WorkQueue().run { Result { () throws(Complaint) in try self.lockNow() } }
            return try result.get()
        }
        guard let lock = announce(after: device.directory.settings.lockGraceSeconds), waits else { return }
        guard await locks.outcome(of: lock) != .cancelled else {
            throw Complaint(.lockCancelled, "the device was unlocked during the grace period, which cancelled the lock")
        }
    }

    /// - Throws: ``Complaint`` of kind `noPasscode`: nothing would unlock the device again.
    private func requirePasscode() throws(Complaint) {
        guard device.hasPasscode else { throw .noPasscode(device.directory.path) }
    }

    /// Locks without a grace period. Blocks until the keys are gone.
    private func lockNow() throws(Complaint) {
        while let lock = announce(after: nil) {
            finish(lock)
            // An unlock that was under way has cancelled this lock: the next attempt comes after that.
            guard locks.read({ $0.outcome(of: lock) }) != .locked else { return }
            try requirePasscode()
        }
    }

    /// Announces a lock, or joins the one that is pending or under way.
    /// - Parameter grace: seconds; nil for no grace period, also where one is under way.
    /// - Returns: the number of the lock that is pending, or was the last; nil before first unlock.
    private func announce(after grace: Double?) -> Int? {
        let (lock, isNew) = locks.change { schedule -> (Int?, Bool) in
            switch device.deviceState {
            case .beforeFirstUnlock: return (nil, false)
            // The keys may still be in use, although nothing can be opened any more: join that lock.
            case .locking, .locked: return (schedule.last, false)
            case .unlocked: break
            }
            device.beginLocking()
            return (schedule.announce(for: timers.now + .seconds(grace ?? 0)), true)
        }
        guard let lock, isNew else { return lock }
        report(.willBecomeUnavailable)
        if let grace {
            // A device that is let go of in between is not locked: its keys end with its process.
            timers.start(after: .seconds(grace)) { [weak self] in self?.finish(lock) }
        }
        return lock
    }

    /// Lets time pass for the pending lock, which comes when its grace period is over.
    func pass(_ time: Duration) {
        let pending = locks.change { schedule in schedule.pass(time).map { ($0, schedule.last) } }
        guard let (deadline, lock) = pending else { return }
        let left = deadline - timers.now
        if left <= .zero { return finish(lock) }
        timers.start(after: left) { [weak self] in self?.finish(lock) }
    }

    /// Carries out a lock that is due, unless it has happened or was cancelled. Blocks.
    private func finish(_ lock: Int) {
        defer { tellObserver() }
        changes.withLock { _ in
            let isDue = locks.change { schedule in
                guard schedule.isPending(lock) else { return false }
                guard device.hasPasscode else { return true }
                // From here on the lock cannot be cancelled; an unlock waits for `changes`.
                schedule.begin()
                device.closeToNew()
                return true
            }
            guard isDue else { return }
            // The passcode was removed after the announcement: nothing would unlock the device again.
            guard device.hasPasscode else { return becomeUnlocked() }
            mounts.lock(takeKeys: { device.takeKeys() })
            report(.locked)
            locks.change { $0.complete(lock) }
        }
    }

    // MARK: Unlock

    /// Unlocks the device, and cancels a pending lock. Takes as long as the keybag's cost says.
    /// - Throws: as ``DeviceLifecycle/DevicePasscode/unlock(_:)``.
    func unlock(passcode: String) throws(Complaint) {
        defer { tellObserver() }
        try changes.withLock { _ throws(Complaint) in
            guard device.hasPasscode else { return }
            try device.passcode.unlock(Array(passcode.utf8))
            becomeUnlocked()
        }
    }

    /// Sets, changes or removes the passcode. Without one the device is unlocked.
    /// - Parameter body: makes the one call of ``DeviceLifecycle/DevicePasscode``; what it throws is thrown.
    func changePasscode(_ body: (BootedDevice) throws(Complaint) -> Void) throws(Complaint) {
        defer { tellObserver() }
        try changes.withLock { _ throws(Complaint) in
            try body(device)
            if !device.hasPasscode { becomeUnlocked() }
        }
    }

    /// Enters the state `unlocked`. The keys are in the ring, and the caller holds `changes`.
    private func becomeUnlocked() {
        let before = locks.change { schedule in
            schedule.cancel()
            defer { device.becomeUnlocked() }
            return device.deviceState
        }
        guard before != .unlocked else { return }
        mounts.reportLosses()
        // After a lock that was announced and cancelled, the device has not been locked.
        if before != .locking { report(.unlocked) }
        report(.didBecomeAvailable)
    }

    // MARK: Restart

    /// Does to keys and mounts what a reboot does.
    /// - Throws: ``Complaint`` of kind `unexpected` after as many restarts as the mounts can number.
    func restart() throws(Complaint) {
        try changes.withLock { _ throws(Complaint) in
            guard mounts.canRestart else {
                throw Complaint(
                    .unexpected,
                    "the device was restarted too often since it was started; shut it down and mount again")
            }
            if device.hasPasscode, device.deviceState == .unlocked { report(.willBecomeUnavailable) }
            mounts.restart(forget: {
                locks.change { schedule in
                    schedule.restart()
                    device.forgetAsAfterBoot()
                }
            })
            report(.restarted)
        }
    }
}
