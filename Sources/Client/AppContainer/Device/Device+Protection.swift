// The device's state, its passcode, and the protection of files.

extension Device {
    /// Unlocks the device.
    /// - Parameter passcode: the one that the device was made with when nil.
    /// - Throws: an error of kind `wrongPasscode`, `passcodeDelayed`, `noPasscode`, or `passcodeNeeded` where none is
    ///   known.
    public func unlock(passcode: String? = nil) async throws(DeviceError) {
        guard let passcode = passcode ?? self.passcode else {
            throw DeviceError(.passcodeNeeded, "the passcode of \(path) is not known here; give it")
        }
        _ = try await send(UnlockRequest(passcode: passcode))
    }

    /// Locks the device.
    ///
    /// - Parameters:
    ///   - now: skip the grace period.
    ///   - waiting: return when the device is locked, not when the lock is announced.
    /// - Throws: an error of kind `noPasscode`, or `lockCancelled` by an unlock during the grace period.
    public func lock(now: Bool = false, waiting: Bool = true) async throws(DeviceError) {
        _ = try await send(LockRequest(now: now, wait: waiting))
    }

    /// Does to the device what a reboot does: with a passcode it is before its first unlock then.
    public func restart() async throws(DeviceError) {
        _ = try await send(RestartRequest())
    }

    /// Gives a device without a passcode one.
    public func setPasscode(_ new: String) async throws(DeviceError) {
        _ = try await send(PasscodeRequest(.set, new: new))
    }

    /// Exchanges the passcode. No file is written anew.
    public func changePasscode(from old: String, to new: String) async throws(DeviceError) {
        _ = try await send(PasscodeRequest(.change, old: old, new: new))
    }

    /// Removes the passcode; the device is unlocked then.
    public func removePasscode(_ old: String) async throws(DeviceError) {
        _ = try await send(PasscodeRequest(.remove, old: old))
    }

    // MARK: Files

    /// What the device knows of a path, and the rules that hold for it.
    /// - Parameter path: relative to the app's home.
    public func inspect(_ path: String, of app: String) async throws(DeviceError) -> Inspection {
        try await send(InspectRequest(app: app, path: path))
    }
}

/// The classes of data protection, by Foundation's own raw values (`FileProtectionType`).
public enum FileProtection: String, Codable, CaseIterable, Sendable {
    /// Content can be reached while the device is unlocked.
    case complete = "NSFileProtectionComplete"
    /// Content can be opened while the device is unlocked, and then be used on; new files can be made at any time.
    case completeUnlessOpen = "NSFileProtectionCompleteUnlessOpen"
    /// Content can be reached from the first unlock after a boot on.
    case completeUntilFirstUserAuthentication = "NSFileProtectionCompleteUntilFirstUserAuthentication"
    /// Content can be reached at any time.
    case none = "NSFileProtectionNone"
}
