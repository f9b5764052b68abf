// The record of the class keys under the backup password.

public import DataProtection
import Platform
public import SandboxModel

extension DeviceDirectory {
    /// Whether there is a record of the class keys under a backup password, be it damaged.
    public var hasPasswordKeybag: Bool { (try? root.exists(Name.passwordKeybag)) ?? false }

    /// The class keys under the backup password; nil where none is set.
    /// - Throws: ``Complaint`` of kind `damaged` for anything that this device has not written as it is, or
    ///   `newerFormat`.
    public func passwordKeybag() throws(Complaint) -> PasswordKeybag? {
        guard let bytes = try believed(Name.passwordKeybag, limit: 1 << 16) else { return nil }
        let file = "\(path)/\(Name.passwordKeybag.text)"
        do throws(PasswordKeybagFault) {
            return try PasswordKeybag(decoding: bytes)
        } catch {
            guard case .newerVersion(let version) = error else { throw DeviceRecords.damaged(file) }
            throw Complaint(
                .newerFormat, "\(file) was made by a newer version (format \(version)); update appcontainer")
        }
    }

    /// Replaces the class keys under the backup password, or removes them. Durable on return.
    /// - Parameter keybag: nil for no password.
    public func replacePasswordKeybag(
        with keybag: PasswordKeybag?, holding lock: DeviceLock
    ) throws(Complaint) {
        if let keybag {
            // First: an older version would leave the record behind at an erase, and out of a clone.
            try raiseFormat()
            return try replace(Name.passwordKeybag, sealing: keybag.encoded())
        }
        try Complaint.wrap("cannot remove \(path)/\(Name.passwordKeybag.text)") { () throws(SystemError) in
            if try root.exists(Name.passwordKeybag) { try root.removeFile(Name.passwordKeybag) }
            try root.synchronizeEntries()
        }
    }
}
