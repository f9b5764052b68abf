// Manifest.plist: what a backup says of itself and of the device and the apps that it comes from.

import PropertyLists
import SandboxModel

/// The device that a backup is made of, as other tools show it.
public struct FinderBackupDevice: Hashable, Sendable {
    /// As a person calls it.
    public var name: String
    /// A unique device identifier; for a device of this project its UUID.
    public var identifier: String
    /// Whether it has a passcode.
    public var hasPasscode: Bool
    /// The system's version. Tools take the layout of the backup from it, which is that of 10.2 and later.
    public var systemVersion: String

    public init(name: String, identifier: String, hasPasscode: Bool, systemVersion: String = "18.0") {
        self.name = name
        self.identifier = identifier
        self.hasPasscode = hasPasscode
        self.systemVersion = systemVersion
    }
}

/// What is read of Manifest.plist.
struct Manifest {
    static let fileName: FileName = "Manifest.plist"
    /// Of the format since iOS 10.2; a larger number before the point is a format that nobody here knows.
    static let version = "10.0"
    private static let majorVersion = 10
    /// Of what this project adds. Raised when an older version could not restore what is there.
    static let format = 1

    var keybag: [UInt8]?
    /// The key of Manifest.db, wrapped.
    var key: [UInt8]?
    /// SHA-256 of Manifest.db, in backups of our own; nil in others.
    var databaseDigest: [UInt8]?
    var applications: [String: ManifestList.Application]

    var isOwn: Bool { databaseDigest != nil }
    var isEncrypted: Bool { keybag != nil }

    enum Flaw: Error {
        case damaged
        case newer(String)
    }

    init(decoding bytes: [UInt8]) throws(Flaw) {
        guard let list = try? PropertyListCoding.decode(ManifestList.self, from: bytes),
            let major = list.version.split(separator: ".").first.flatMap({ Int($0) })
        else { throw .damaged }
        guard major <= Manifest.majorVersion else { throw .newer(list.version) }
        if let addition = list.addition {
            guard addition.format <= Manifest.format else { throw .newer("appcontainer \(addition.format)") }
            databaseDigest = Array(addition.databaseDigest)
        }
        // A phone's unencrypted backup may have a keybag all the same; what it says of itself is what counts.
        if list.isEncrypted {
            guard let keybag = list.keybag, let key = list.key else { throw .damaged }
            (self.keybag, self.key) = (Array(keybag), Array(key))
        }
        guard let applications = list.applications else { throw .damaged }
        self.applications = applications
    }
}
