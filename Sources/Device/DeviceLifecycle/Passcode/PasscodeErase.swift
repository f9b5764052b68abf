// The erase after ten wrong passcodes, as "Erase Data" of iOS: decided by their count, carried out at once or by the
// next boot.

import BackingStore
import DataProtection
public import SandboxModel

extension DeviceDirectory {
    /// Erases the device if ten wrong passcodes have decided that. A process that ends before leaves the decision
    /// behind.
    /// - Returns: whether it was so.
    func eraseAfterAttempts(holding lock: DeviceLock) throws(Complaint) -> Bool {
        // A record of attempts that cannot be read keeps every passcode out, and is for the next attempt to report.
        guard settings.eraseAfterTen == true, let attempts = try? passcodeAttempts(),
            attempts.wrong >= PasscodeAttempts.most, try openKeybag().0.hasPasscode
        else { return false }
        try StoredDevice.erase(self, holding: lock)
        return true
    }
}

extension BootedDevice {
    /// Makes the device as new after ten wrong passcodes. It was shut down, and no other call may follow but
    /// ``release()`` and ``delete()``.
    public func eraseAfterAttempts() throws(Complaint) {
        _ = try directory.eraseAfterAttempts(holding: lock)
    }
}

extension Complaint {
    /// The complaint of the tenth wrong passcode, and of every passcode after it.
    static func deviceErased(_ path: String) -> Complaint {
        Complaint(
            .deviceErased,
            "ten wrong passcodes: \(path) is erased, as it was set to be; it has no passcode, no app and no content")
    }
}
