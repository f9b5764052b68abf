// The handlers of requests that lock, unlock and restart the device, and that change its passcode.

import AppContainer
import DeviceLifecycle
import Logging
import SandboxModel

extension DeviceService {
    /// The requests about lock, passcode and restart.
    static let lockRoutes: [Route<DeviceService>] = [
        .wait(lock), .call(unlock), .call(restart), .call(passcode),
    ]

    /// Unlocks the device, and cancels a pending lock.
    /// - Throws: ``Complaint`` of kind `wrongPasscode`, `passcodeDelayed` or `deviceErased`.
    func unlock(_ request: UnlockRequest) throws(Complaint) {
        try erasingAfterTen { () throws(Complaint) in
            try operations.run { () throws(Complaint) in try locking.unlock(passcode: request.passcode) }
        }
    }

    /// Waits for the lock without a thread. It is no operation: the end of the device does not wait for a grace period.
    /// - Throws: ``Complaint`` of kind `noPasscode` or `lockCancelled`.
    func lock(_ request: LockRequest) async throws(Complaint) {
        try await locking.lock(now: request.now ?? false, waits: request.wait ?? true)
    }

    /// Kills what runs, and restarts the device; nothing begins to run meanwhile.
    /// - Throws: ``Complaint`` of kind `notAllowed` for a process of another user, `inUse` for one that does not end,
    ///   or as ``LockController/restart()``.
    func restart(_ request: RestartRequest) throws(Complaint) {
        try operations.run { () throws(Complaint) in
            try running.closing { () throws(Complaint) in
                // Also those that a mount holds running: after a restart nothing is in the background.
                lifecycle.forgetAll()
                try locking.restart()
            }
        }
    }

    /// Sets, changes or removes the passcode.
    /// - Throws: ``Complaint`` of kind `passcodeExists`, `noPasscode`, `wrongPasscode`, `passcodeDelayed`,
    ///   `deviceErased` or `invalidPasscode`.
    func passcode(_ request: PasscodeRequest) throws(Complaint) {
        let old = Array((request.old ?? "").utf8)
        let new = Array((request.new ?? "").utf8)
        let erases = request.eraseAfterTen
        try erasingAfterTen { () throws(Complaint) in
            try operations.run { () throws(Complaint) in
                try locking.changePasscode { (device) throws(Complaint) in
                    switch request.action {
                    case .set: try device.passcode.set(new, eraseAfterTen: erases)
                    case .change: try device.passcode.change(from: old, to: new, eraseAfterTen: erases)
                    case .remove: try device.passcode.remove(old, eraseAfterTen: erases)
                    }
                }
            }
        }
        log.info("passcode: \(request.action.rawValue)")
    }

    /// Runs a call that takes a passcode, and erases the device if that was the tenth wrong one. It is no operation
    /// then: the end waits for all operations.
    private func erasingAfterTen(_ body: () throws(Complaint) -> Void) throws(Complaint) {
        do throws(Complaint) {
            try body()
        } catch {
            if error.kind == .deviceErased { eraseAndEnd() }
            throw error
        }
    }

    /// Records a change of the lock's state in the log and among the events.
    static func record(_ change: LockController.Change, _ events: EventLog, _ log: Logger) {
        switch change {
        case .willBecomeUnavailable:
            log.info("locking")
            events.record(Event(.willBecomeUnavailable))
        case .locked:
            log.info("locked")
            events.record(Event(.locked))
        case .unlocked:
            log.info("unlocked")
            events.record(Event(.unlocked))
        case .didBecomeAvailable: events.record(Event(.didBecomeAvailable))
        case .restarted:
            log.info("restarted")
            events.record(Event(.restarted))
        }
    }
}
