// The device between unlocked, locking, locked and before first unlock: who may change that, and when.
// Locks: `changes` is held for the whole of a lock, an unlock or a restart; `grace` below it, for moments only.

import BackingStore
import ContainerMount
import DeviceLifecycle
import Dispatch
import Logging
import Platform
import SandboxModel
import Synchronization

/// Locks, unlocks and restarts a device with its mounts.
final class Protection: Sendable {
    private struct Grace {
        /// Counts the times that a lock was announced.
        var serial = 0
        /// When the announced lock happens; nil when none is.
        var deadline: ContinuousClock.Instant?
        /// The last of those that happened, and of those that an unlock cancelled.
        var lockedThrough = 0
        var cancelledThrough = 0
    }

    /// What happened, for the record of events.
    enum News: Sendable {
        case willBecomeUnavailable, locked, unlocked, didBecomeAvailable, restarted
    }

    private let device: Device
    private let mounts: Mounts
    private let tell: @Sendable (News) -> Void
    private let changes = Mutex(())
    private let grace = Monitor(Grace())

    init(device: Device, mounts: Mounts, tell: @escaping @Sendable (News) -> Void) {
        self.device = device
        self.mounts = mounts
        self.tell = tell
    }

    /// As whoever asks sees it: locked when everything has been taken away, and not when that begins.
    var state: DeviceState {
        grace.access { grace in
            let isUnderWay = grace.serial > max(grace.lockedThrough, grace.cancelledThrough)
            return device.deviceState == .locked && isUnderWay ? .locking : device.deviceState
        }
    }

    /// Seconds until an announced lock; nil when none is.
    var graceRemaining: Double? {
        grace.access { $0.deadline }.map { deadline in
            let left = deadline - ContinuousClock.now
            return max(0, Double(left.components.seconds) + Double(left.components.attoseconds) / 1e18)
        }
    }

    // MARK: Lock

    /// - Parameters:
    ///   - now: skip the grace period, also one that is under way.
    ///   - waits: return when the device is locked, not when the lock is announced.
    /// - Throws: ``Complaint`` of kind `noPasscode`, or `lockCancelled` by an unlock during the grace period.
    func lock(now: Bool, waits: Bool) throws(Complaint) {
        guard device.hasPasscode else {
            throw .noPasscode(device.directory.path)
        }
        guard var serial = announce(now: now) else { return }
        if now {
            finish(serial)
            // An unlock that was under way has cancelled it: the lock comes after that.
            while grace.access({ $0.lockedThrough < serial }) {
                guard device.hasPasscode else { throw .noPasscode(device.directory.path) }
                guard let next = announce(now: true) else { return }
                serial = next
                finish(serial)
            }
            return
        }
        guard waits else { return }
        let isLocked = grace.wait { grace in
            if grace.lockedThrough >= serial { return true }
            return grace.cancelledThrough >= serial ? false : nil
        }
        guard isLocked else {
            throw Complaint(.lockCancelled, "the device was unlocked during the grace period, which cancelled the lock")
        }
    }

    /// - Returns: the number of the lock that is on its way, or was the last; nil when the device was not unlocked since.
    private func announce(now: Bool) -> Int? {
        let seconds = now ? 0 : device.directory.settings.lockGraceSeconds
        let (serial, isNew) = grace.access { grace -> (Int?, Bool) in
            switch device.deviceState {
            case .beforeFirstUnlock: return (nil, false)
            // The keys of a device that nothing can be opened on any more may be in use still: that lock is joined.
            case .locking, .locked: return (grace.serial, false)
            case .unlocked: break
            }
            grace.serial += 1
            grace.deadline = ContinuousClock.now + .seconds(seconds)
            device.beginLocking()
            return (grace.serial, true)
        }
        guard let serial, isNew else { return serial }
        tell(.willBecomeUnavailable)
        if !now {
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.finish(serial) }
        }
        return serial
    }

    private func finish(_ serial: Int) {
        changes.withLock { _ in
            let isDue = grace.access { grace in
                guard grace.deadline != nil, grace.serial == serial else { return false }
                guard device.hasPasscode else { return true }
                grace.deadline = nil
                device.closeToNew()
                return true
            }
            guard isDue else { return }
            // It was removed after the lock was announced: nothing would unlock the device again.
            guard device.hasPasscode else { return becomeUnlocked() }
            mounts.lock(takeKeys: { device.takeKeys() })
            tell(.locked)
            grace.access { $0.lockedThrough = serial }
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
        let before = grace.access { grace in
            if grace.deadline != nil {
                grace.deadline = nil
                grace.cancelledThrough = grace.serial
            }
            defer { device.becomeUnlocked() }
            return device.deviceState
        }
        guard before != .unlocked else { return }
        mounts.tellLosses()
        // A lock that was cancelled was announced, and has not happened.
        if before != .locking { tell(.unlocked) }
        tell(.didBecomeAvailable)
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
            if device.hasPasscode, device.deviceState == .unlocked { tell(.willBecomeUnavailable) }
            mounts.restart(forget: {
                grace.access { grace in
                    if grace.deadline != nil { grace.lockedThrough = grace.serial }
                    grace.deadline = nil
                    device.forgetAsAfterBoot()
                }
            })
            tell(.restarted)
        }
    }
}
