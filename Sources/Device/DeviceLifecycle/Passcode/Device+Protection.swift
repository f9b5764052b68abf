// Keys that come and go with the device's state. Whoever calls these has seen to the mounts; one call at a time.

import BackingStore
import DataProtection
public import SandboxModel

extension Device {
    /// The device's state. One without a passcode is always unlocked.
    public var deviceState: DeviceState { context.deviceState }

    /// Begins the grace period: every rule is still that of an unlocked device.
    public func beginLocking() {
        context.deviceState = .locking
    }

    /// From now on nothing is opened or begun to be written that a locked device does not allow. What the kernel holds
    /// can still be written out: the keys stay until ``takeKeys()``.
    public func closeToNew() {
        context.deviceState = .locked
    }

    /// Takes the class keys that a locked device does not have.
    public func takeKeys() {
        context.keys.forget([.complete, .completeUnlessOpen])
    }

    /// After the right passcode: what was open before the lock works again, and everything can be opened.
    public func becomeUnlocked() {
        context.openFiles.reopen()
        context.deviceState = .unlocked
    }

    /// What a reboot does to the keys: those of open files go for good, and with a passcode all class keys but that of
    /// class D.
    public func forgetAsAfterBoot() {
        let hasPasscode = hasPasscode
        context.openFiles.retireAll(admittingComplete: !hasPasscode)
        guard hasPasscode else { return }
        context.deviceState = .beforeFirstUnlock
        context.keys.forget([.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication])
    }
}
