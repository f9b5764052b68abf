// A device's backup password: setting, changing and removing it, and the keybag that backups carry.
// Lock: `changes` is held for the whole of a call that changes it. Records and the ring's keys are below it.

import BackingStore
public import DataProtection
import Platform
public import SandboxModel
import Synchronization

/// The backup password of a booted device. It is stored nowhere: the class keys lie in the device under it, and backups
/// have that keybag.
///
/// The class keys never change but by an erase, so that neither an unlock nor another passcode concerns the keybag.
public final class BackupPassword: Sendable {
    private let directory: DeviceDirectory
    private let lock: DeviceLock
    private let context: StoreContext
    /// Of the device's keybag.
    private let identifier: [UInt8]
    private let changes = Mutex(())

    init(of held: HeldDirectory, context: StoreContext, identifier: [UInt8]) {
        directory = held.directory
        lock = held.lock
        self.context = context
        self.identifier = identifier
    }

    /// The class keys under the password; nil where none is set.
    /// - Throws: ``Complaint`` of kind `damaged` or `newerFormat`.
    public func keybag() throws(Complaint) -> PasswordKeybag? { try directory.passwordKeybag() }

    /// The keybag for a backup, encoded; nil without a backup password.
    /// - Parameter password: of an encrypted backup, which has to be the device's where that has one.
    /// - Throws: ``Complaint`` of kind `wrongPassword`, and as ``keybag()``.
    public func keybag(forBackupUnder password: [UInt8]?) throws(Complaint) -> [UInt8]? {
        guard let keybag = try keybag() else { return nil }
        if let password {
            _ = try opening(
                "that is not the backup password of \(directory.path), which its encrypted backups have; give that"
            ) { () throws(PasswordKeybagFault) in try keybag.open(password: password) }
        }
        return keybag.encoded()
    }

    /// Gives a device without a backup password one.
    /// - Throws: ``Complaint`` of kind `backupPasswordState` where there is one, `deviceLocked` unless every class key is
    ///   at hand, `invalidPasscode` or `damaged`.
    public func set(_ new: [UInt8]) throws(Complaint) {
        try BackupPassword.requireUsable(new)
        try changes.withLock { _ throws(Complaint) in
            guard try keybag() == nil else { throw .hasBackupPassword(directory.path) }
            let proofs = SealedFileKey(try directory.uidKey(), keybag: identifier)
            let made: PasswordKeybag
            do throws(KeyFault) {
                // Keys outlive the lock for a moment, in which the device is locked already.
                guard [.unlocked, .locking].contains(context.deviceState) else { throw .unavailable(.complete) }
                made = try PasswordKeybag.create(
                    password: new, of: context.keys, proofs: proofs, identifier: identifier,
                    level: directory.settings.keyDerivationCost)
            } catch {
                throw Complaint(
                    .deviceLocked,
                    "\(directory.path) is locked, and a backup password is set over all of its keys; unlock it first")
            }
            try directory.replacePasswordKeybag(with: made, holding: lock)
        }
    }

    /// Exchanges the backup password, perhaps for the same one. The device may be locked.
    /// - Throws: ``Complaint`` of kind `backupPasswordState` where there is none, `wrongPassword`, `invalidPasscode` or
    ///   `damaged`.
    public func change(from old: [UInt8], to new: [UInt8]) throws(Complaint) {
        try BackupPassword.requireUsable(new)
        try replace(old) { (keybag) throws(PasswordKeybagFault) in
            try keybag.changingPassword(from: old, to: new, level: directory.settings.keyDerivationCost)
        }
    }

    /// Removes the backup password. Backups that were made under it keep it.
    /// - Throws: ``Complaint`` of kind `backupPasswordState` where there is none, `wrongPassword` or `damaged`.
    public func remove(_ old: [UInt8]) throws(Complaint) {
        try replace(old) { (keybag) throws(PasswordKeybagFault) in
            _ = try keybag.open(password: old)
            return nil
        }
    }

    /// - Parameter change: proves the old password.
    private func replace(
        _ old: [UInt8], _ change: (PasswordKeybag) throws(PasswordKeybagFault) -> PasswordKeybag?
    ) throws(Complaint) {
        try changes.withLock { _ throws(Complaint) in
            guard let keybag = try keybag() else { throw .noBackupPassword(directory.path) }
            let changed = try opening(
                "wrong backup password for \(directory.path); give the one that was set, or, where nobody knows it, get "
                    + "rid of it with all content: appcontainer erase \(directory.path)"
            ) { () throws(PasswordKeybagFault) in try change(keybag) }
            try directory.replacePasswordKeybag(with: changed, holding: lock)
        }
    }

    /// Runs a call that takes the password.
    /// - Parameter wrong: the message about a wrong one.
    private func opening<Result>(
        _ wrong: @autoclosure () -> String, _ body: () throws(PasswordKeybagFault) -> Result
    ) throws(Complaint) -> Result {
        do throws(PasswordKeybagFault) {
            return try body()
        } catch {
            switch error {
            case .wrongPassword: throw Complaint(.wrongPassword, wrong())
            case .noMemory: throw .noMemoryForPassword
            case .damaged, .excessiveCost, .newerVersion:
                throw Complaint(
                    .damaged,
                    "\(directory.path)/\(DeviceDirectory.Name.passwordKeybag.text) is damaged; restore it from a copy of "
                        + "the device")
            }
        }
    }

    /// A password can be the first line of a file, so it has to be one line.
    /// - Throws: ``Complaint`` of kind `invalidPasscode`.
    private static func requireUsable(_ password: [UInt8]) throws(Complaint) {
        guard !password.isEmpty else {
            throw Complaint(
                .invalidPasscode, "the new backup password is empty; give one of at least one character")
        }
        guard !password.contains(UInt8(ascii: "\n")), password.last != UInt8(ascii: "\r") else {
            throw Complaint(
                .invalidPasscode,
                "the new backup password is more than one line; give one without an end of line")
        }
    }
}

extension Complaint {
    /// The complaint of `set` where there is a backup password.
    public static func hasBackupPassword(_ path: String) -> Complaint {
        Complaint(
            .backupPasswordState,
            "\(path) has a backup password already; change it with: appcontainer backup-password \(path) change")
    }

    /// The complaint of a call that needs a backup password where there is none.
    public static func noBackupPassword(_ path: String) -> Complaint {
        Complaint(
            .backupPasswordState,
            "\(path) has no backup password; set one with: appcontainer backup-password \(path) set")
    }

    /// The host does not give scrypt its memory.
    static let noMemoryForPassword = Complaint(
        .unexpected, "the host has not the memory that a guess of the password takes; free some, and try again")
}
