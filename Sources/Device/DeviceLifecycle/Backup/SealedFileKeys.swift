// The keys of the ciphertext in a backup: this device's own, or those of another device that the backup's password
// opens.

import BackingStore
import BackupModel
import DataProtection
import Platform
import SandboxModel

/// The keys of one device's sealed files.
struct SealedFileKeys: Sendable {
    /// Of the proofs that the device wrote them.
    let proofs: SealedFileKey
    /// Opens files of another device; nil for this device's own, which stay as they are.
    let context: StoreContext?
}

/// Finds the keys of sealed entries while one backup is restored. Used by one thread.
final class SealedEntryKeys {
    private let identifier: [UInt8]
    private let own: SealedFileKeys
    /// The keybag that the backup has, and the password that was given for it. Both are untrusted.
    private let keybag: [UInt8]?
    private let password: [UInt8]?
    /// Opened at the first entry that needs it: that takes as long as a guess of the password.
    private var opened: (identifier: [UInt8], keys: SealedFileKeys)?

    /// - Parameter keybag: of the backup, encoded.
    init(of device: BootedDevice, keybag: [UInt8]?, password: [UInt8]?) throws(Complaint) {
        identifier = device.passcode.keybagIdentifier
        own = SealedFileKeys(proofs: try device.sealedFileKey(), context: nil)
        self.keybag = keybag
        self.password = password
    }

    /// - Returns: nil for an entry that is not sealed.
    /// - Throws: ``Complaint`` of kind `otherDevice` for ciphertext of another device whose keys the backup has not,
    ///   `passwordNeeded`, `wrongPassword`, `newerBackup`, or `invalidBackup` for a keybag that is none.
    func keys(of entry: BackupEntry) throws(Complaint) -> SealedFileKeys? {
        guard case .file(.sealed(_, let wanted)) = entry.kind else { return nil }
        if wanted == identifier { return own }
        let name = "\(entry.domain.name)/\(entry.path.text)"
        guard let keybag else {
            throw Complaint(
                .otherDevice,
                "\(name) is in the backup as ciphertext, because the device was locked, and only that device can read it; "
                    + "restore onto it, or back it up again while it is unlocked or after backup-password has set one")
        }
        let opened = try open(keybag, for: name)
        guard opened.identifier == wanted else {
            throw Complaint(
                .invalidBackup,
                "\(name) is in the backup as ciphertext of another device than the keybag beside it; nothing was restored"
            )
        }
        return opened.keys
    }

    private func open(
        _ bytes: [UInt8], for name: String
    ) throws(Complaint) -> (identifier: [UInt8], keys: SealedFileKeys) {
        if let opened { return opened }
        guard let password else {
            throw Complaint(
                .passwordNeeded,
                "\(name) is in the backup as ciphertext of another device, because that was locked; give the backup "
                    + "password that it had then, with: --password-file")
        }
        do throws(PasswordKeybagFault) {
            let keybag = try PasswordKeybag(decoding: bytes)
            let keys = try keybag.open(password: password)
            let context = StoreContext(keys: keys.ring, history: .ofAnotherDevice, report: { _ in })
            context.deviceState = .unlocked
            let opened = (keybag.identifier, SealedFileKeys(proofs: keys.proofs, context: context))
            self.opened = opened
            return opened
        } catch {
            throw Complaint(ofBackup: error)
        }
    }
}

extension Complaint {
    /// The fault of a keybag that a backup has.
    fileprivate init(ofBackup fault: PasswordKeybagFault) {
        switch fault {
        case .wrongPassword:
            self.init(
                .wrongPassword,
                "that is not the backup password that the device had when it made the backup; try another")
        case .newerVersion(let version):
            self.init(
                .newerBackup, "the backup has a keybag of a newer version (format \(version)); use a newer appcontainer"
            )
        case .excessiveCost:
            self.init(
                .invalidBackup,
                "the backup's keybag asks for more memory than any that a device makes; nothing was restored; use another "
                    + "backup")
        case .damaged:
            self.init(
                .invalidBackup, "the backup's keybag is damaged; nothing was restored; use another copy of the backup")
        case .noMemory: self = .noMemoryForPassword
        }
    }
}
