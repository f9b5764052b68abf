// Manifest.plist as it is read: keys, digest and apps of a backup.

import PropertyLists
import SandboxModel

/// The checked content of Manifest.plist. ``ManifestList`` has the keys.
struct FinderManifest {
    static let fileName: FileName = "Manifest.plist"
    /// Apple's version of the format since iOS 10.2. A larger major version is unknown.
    static let version = "10.0"
    private static let majorVersion = 10
    /// The version of this project's additions. Raised if an older version could not restore the backup.
    static let format = 1

    /// nil if the backup is not encrypted.
    var keybag: [UInt8]?
    /// The device's class keys under its backup password, in backups of this project.
    var passwordKeybag: [UInt8]?
    /// The wrapped key of Manifest.db.
    var key: [UInt8]?
    /// SHA-256 of Manifest.db in backups of this project; nil in others.
    var databaseDigest: [UInt8]?
    /// SHA-256 of Manifest.db before its encryption, in encrypted backups of this project; nil in old ones.
    var clearDatabaseDigest: [UInt8]?
    /// By bundle identifier.
    var applications: [String: ManifestList.Application]

    /// Whether the backup was made by this project.
    var isOwn: Bool { databaseDigest != nil }
    var isEncrypted: Bool { keybag != nil }

    enum Flaw: Error {
        case damaged
        /// The backup has a newer format, by its version.
        case newer(String)
    }

    /// Decodes and checks a property list, which is untrusted.
    init(decoding bytes: [UInt8]) throws(Flaw) {
        guard let list = try? PropertyListCoding.decode(ManifestList.self, from: bytes),
            let major = list.version.split(separator: ".").first.flatMap({ Int($0) })
        else { throw .damaged }
        guard major <= FinderManifest.majorVersion else { throw .newer(list.version) }
        if let addition = list.addition {
            guard addition.format <= FinderManifest.format else { throw .newer("appcontainer \(addition.format)") }
            databaseDigest = Array(addition.databaseDigest)
            clearDatabaseDigest = addition.clearDatabaseDigest.map { Array($0) }
            passwordKeybag = addition.passwordKeybag.map { Array($0) }
        }
        // An iPhone's unencrypted backup may have a keybag too, so `IsEncrypted` decides.
        if list.isEncrypted {
            guard let keybag = list.keybag, let key = list.key else { throw .damaged }
            (self.keybag, self.key) = (Array(keybag), Array(key))
        }
        guard let applications = list.applications else { throw .damaged }
        self.applications = applications
    }
}
