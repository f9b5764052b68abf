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

    /// Whether there is a record of one, be it damaged.
    public var isSet: Bool { directory.hasPasswordKeybag }

    /// The record as it was found.
    private enum Found {
        case none, damaged
        case whole(PasswordKeybag)
    }

    /// Looks at the record. A damaged one is no more than that while the device is unlocked: its keys are at hand.
    /// - Throws: ``Complaint`` of kind `damaged` unless the device is unlocked, or `newerFormat`.
    private func found() throws(Complaint) -> Found {
        do throws(Complaint) {
            return if let keybag = try keybag() { .whole(keybag) } else { .none }
        } catch {
            guard error.kind == .damaged else { throw error }
            guard isUnlocked else { throw damagedRecord }
            return .damaged
        }
    }

    /// Keys outlive the lock for a moment, in which the device is locked already.
    private var isUnlocked: Bool { [.unlocked, .locking].contains(context.deviceState) }

    private var damagedRecord: Complaint {
        let file = "\(directory.path)/\(DeviceDirectory.Name.passwordKeybag.text)"
        return Complaint(
            .damaged,
            "\(file) is damaged; unlock the device, and set another backup password, or remove it, with: "
                + "appcontainer backup-password \(directory.path) set")
    }

    /// The keybag for a backup, encoded; nil without a backup password, and, while the device is unlocked, for a
    /// damaged record: nothing goes in as ciphertext then.
    /// - Parameter password: of an encrypted backup, which has to be the device's where that has one.
    /// - Throws: ``Complaint`` of kind `wrongPassword`, `newerFormat`, or `damaged` unless the device is unlocked.
    public func keybag(forBackupUnder password: [UInt8]?) throws(Complaint) -> [UInt8]? {
        guard case .whole(let keybag) = try found() else { return nil }
        if let password {
            _ = try opening(
                "that is not the backup password of \(directory.path), which its encrypted backups have; give that"
            ) { () throws(PasswordKeybagFault) in try keybag.open(password: password) }
        }
        return keybag.encoded()
    }

    /// Gives a device without a backup password one, or one whose record is damaged another.
    /// - Throws: ``Complaint`` of kind `backupPasswordState` where there is one, `deviceLocked` unless every class key
    ///   is at hand, `invalidPasscode` or `damaged`.
    public func set(_ new: [UInt8]) throws(Complaint) {
        try BackupPassword.requireUsable(new)
        try changes.withLock { _ throws(Complaint) in
            if case .whole = try found() { throw .hasBackupPassword(directory.path) }
            let proofs = SealedFileKey(try directory.uidKey(), keybag: identifier)
            let made: PasswordKeybag
            do throws(PasswordKeybag.MakingFault) {
                guard isUnlocked else { throw .unavailable(.complete) }
                made = try PasswordKeybag.create(
                    password: new, of: context.keys, proofs: proofs, identifier: identifier,
                    level: directory.settings.keyDerivationCost)
            } catch {
                if case .noMemory = error { throw .noMemoryForPassword }
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
        try replace { (keybag) throws(PasswordKeybagFault) in
            try keybag.changingPassword(from: old, to: new, level: directory.settings.keyDerivationCost)
        }
    }

    /// Removes the backup password. Backups that were made under it keep it. A damaged record goes with any password,
    /// as none opens it, while the device is unlocked.
    /// - Throws: ``Complaint`` of kind `backupPasswordState` where there is none, `wrongPassword` or `damaged`.
    public func remove(_ old: [UInt8]) throws(Complaint) {
        try replace(removesDamaged: true) { (keybag) throws(PasswordKeybagFault) in
            _ = try keybag.open(password: old)
            return nil
        }
    }

    /// - Parameters:
    ///   - removesDamaged: whether a damaged record is removed, while the device is unlocked.
    ///   - change: proves the old password.
    private func replace(
        removesDamaged: Bool = false, _ change: (PasswordKeybag) throws(PasswordKeybagFault) -> PasswordKeybag?
    ) throws(Complaint) {
        try changes.withLock { _ throws(Complaint) in
            let keybag: PasswordKeybag
            switch try found() {
            case .none: throw .noBackupPassword(directory.path)
            case .damaged:
                guard removesDamaged else { throw damagedRecord }
                return try directory.replacePasswordKeybag(with: nil, holding: lock)
            case .whole(let whole): keybag = whole
            }
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
            case .damaged, .excessiveCost, .newerVersion: throw damagedRecord
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
        guard !password.contains(UInt8(ascii: "\n")) else {
            throw Complaint(
                .invalidPasscode,
                "the new backup password is more than one line; give one without an end of line")
        }
        guard password.last != UInt8(ascii: "\r") else {
            throw Complaint(
                .invalidPasscode,
                "the new backup password ends with a carriage return, which the first line of a file does not keep; "
                    + "give one without it")
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
