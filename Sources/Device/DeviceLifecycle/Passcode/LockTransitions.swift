// Keys that come and go with the device's state. The caller has seen to the mounts, and makes one call at a time.

import BackingStore
import DataProtection
public import SandboxModel

extension BootedDevice {
    /// The device's state. One without a passcode is always unlocked.
    public var deviceState: DeviceState { context.deviceState }

    /// Begins the grace period: every rule is still that of an unlocked device.
    public func beginLocking() {
        context.deviceState = .locking
    }

    /// From now on no file is opened and no write begun that a locked device does not allow. The kernel can still write
    /// out its pages: the keys stay until ``takeKeys()``.
    public func closeToNew() {
        context.deviceState = .locked
    }

    /// Takes the class keys that a locked device does not have.
    public func takeKeys() {
        context.keys.forget([.complete, .completeUnlessOpen])
    }

    /// After the right passcode: files that were open before the lock work again, and every file can be opened.
    public func becomeUnlocked() {
        context.openFiles.reopen()
        context.deviceState = .unlocked
    }

    /// Takes keys as a reboot does: those of open files go for good, and with a passcode all class keys but that of
    /// class D.
    public func forgetAsAfterBoot() {
        let hasPasscode = hasPasscode
        context.openFiles.retireAll(admittingComplete: !hasPasscode)
        // Without a passcode the device is unlocked after a boot too.
        guard hasPasscode else { return }
        context.deviceState = .beforeFirstUnlock
        context.keys.forget([.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication])
    }
}
