// Locks, passcode, backup password and protection classes of a device.

extension Device {
    /// Unlocks the device.
    /// - Parameter passcode: when nil, that with which this value made the device.
    /// - Throws: an error of kind `wrongPasscode`, `passcodeDelayed`, `deviceErased`, `noPasscode`, or `passcodeNeeded`
    ///   where none is known.
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

    /// Restarts the device, as a reboot does. With a passcode it is before its first unlock afterwards.
    public func restart() async throws(DeviceError) {
        _ = try await send(RestartRequest())
    }

    /// Sets the passcode of a device without one.
    /// - Parameters:
    ///   - new: the passcode.
    ///   - eraseAfterTen: whether ten wrong passcodes erase the device, as "Erase Data" of iOS; nil leaves that as it
    ///     is. The tenth is then an error of kind `deviceErased`, and the device's process ends.
    public func setPasscode(_ new: String, eraseAfterTen: Bool? = nil) async throws(DeviceError) {
        _ = try await send(PasscodeRequest(.set, new: new, eraseAfterTen: eraseAfterTen))
    }

    /// Changes the passcode. No file is encrypted anew.
    /// - Parameters:
    ///   - old: the passcode until now.
    ///   - new: the passcode from now on.
    ///   - eraseAfterTen: as for ``setPasscode(_:eraseAfterTen:)``.
    public func changePasscode(
        from old: String, to new: String, eraseAfterTen: Bool? = nil
    ) async throws(DeviceError) {
        _ = try await send(PasscodeRequest(.change, old: old, new: new, eraseAfterTen: eraseAfterTen))
    }

    /// Removes the passcode. The device is unlocked afterwards.
    /// - Parameters:
    ///   - old: the passcode until now.
    ///   - eraseAfterTen: as for ``setPasscode(_:eraseAfterTen:)``; it counts once there is a passcode again.
    public func removePasscode(_ old: String, eraseAfterTen: Bool? = nil) async throws(DeviceError) {
        _ = try await send(PasscodeRequest(.remove, old: old, eraseAfterTen: eraseAfterTen))
    }

    // MARK: Backup password

    /// Sets the password under which backups have the device's class keys, so that another device can restore what a
    /// locked device has backed up as ciphertext.
    /// - Throws: an error of kind `deviceLocked` while the device is locked, `backupPasswordState` where it has one.
    public func setBackupPassword(_ new: String) async throws(DeviceError) {
        _ = try await send(BackupPasswordRequest(.set, new: new))
    }

    /// Changes the backup password. Backups that were made before keep the old one.
    /// - Throws: an error of kind `wrongPassword`, or `backupPasswordState` where there is none.
    public func changeBackupPassword(from old: String, to new: String) async throws(DeviceError) {
        _ = try await send(BackupPasswordRequest(.change, old: old, new: new))
    }

    /// Removes the backup password. Backups that were made before keep it.
    /// - Throws: as ``changeBackupPassword(from:to:)``.
    public func removeBackupPassword(_ old: String) async throws(DeviceError) {
        _ = try await send(BackupPasswordRequest(.remove, old: old))
    }

    // MARK: Files

    /// The properties of a path, and the rules that hold for it.
    /// - Parameters:
    ///   - path: relative to the app's home.
    ///   - app: the app's identifier.
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
