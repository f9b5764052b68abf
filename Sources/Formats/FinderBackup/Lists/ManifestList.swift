// The keys of Manifest.plist: Apple's, and under `appcontainer` this project's.

import BackupModel
import DataProtection
import FoundationEssentials
import SandboxModel

/// The property list. All keys are written; only those that a restore needs are read, and have to be valid. Apple does
/// not document the keys; they are those of Finder's own backups.
struct ManifestList: Encodable {
    /// This project's keys of a backup.
    struct Addition: Codable {
        var format: Int
        var databaseDigest: Data
        /// Before encryption; nil in a backup in the clear.
        var clearDatabaseDigest: Data?
        /// The device's class keys under its backup password; nil without one.
        var passwordKeybag: Data?

        private enum CodingKeys: String, CodingKey {
            case format = "Format"
            case databaseDigest = "DatabaseDigest"
            case clearDatabaseDigest = "ClearDatabaseDigest"
            case passwordKeybag = "PasswordKeybag"
        }
    }

    /// Properties of the device.
    struct Lockdown: Encodable {
        var name, systemVersion, identifier: String
        // Properties that no such device has. Tools require the keys.
        private let buildVersion = ""
        private let productType = ""
        private let serialNumber = ""

        init(_ device: FinderBackupDevice) {
            (name, systemVersion, identifier) = (device.name, device.systemVersion, device.identifier)
        }

        private enum CodingKeys: String, CodingKey {
            case name = "DeviceName"
            case systemVersion = "ProductVersion"
            case identifier = "UniqueDeviceID"
            case buildVersion = "BuildVersion"
            case productType = "ProductType"
            case serialNumber = "SerialNumber"
        }
    }

    var version: String
    var isEncrypted: Bool
    /// The keybag, and the wrapped key of Manifest.db. A backup in the clear has a keybag as well, as an iPhone's has,
    /// which opens nothing in it; tools require it.
    var keybag, key: Data?
    /// nil if they cannot be decoded.
    var applications: [String: Application]?
    var addition: Addition?
    // Written for other tools, and not read.
    var date: Date?
    var systemDomainsVersion: String?
    var wasPasscodeSet: Bool?
    var lockdown: Lockdown?

    private enum CodingKeys: String, CodingKey {
        case version = "Version"
        case isEncrypted = "IsEncrypted"
        case keybag = "BackupKeyBag"
        case key = "ManifestKey"
        case applications = "Applications"
        case addition = "appcontainer"
        case date = "Date"
        case systemDomainsVersion = "SystemDomainsVersion"
        case wasPasscodeSet = "WasPasscodeSet"
        case lockdown = "Lockdown"
    }
}

extension ManifestList {
    /// The encryption of Manifest.db.
    struct DatabaseEncryption {
        var keybag: [UInt8]
        /// Wrapped by a class key of the keybag.
        var key: [UInt8]
        /// SHA-256 of the database before encryption.
        var clearDigest: [UInt8]
    }

    /// - Parameters:
    ///   - encryption: nil for a backup in the clear.
    ///   - databaseDigest: SHA-256 of Manifest.db as it is stored.
    init(_ origin: FinderBackupOrigin, encryption: DatabaseEncryption?, databaseDigest: [UInt8]) {
        let (apps, device) = (origin.apps, origin.device)
        (version, isEncrypted) = (FinderManifest.version, encryption != nil)
        (keybag, key) = (Data(encryption?.keybag ?? BackupKeybag.unused.encoded), encryption.map { Data($0.key) })
        var applications: [String: Application] = [:]
        for group in apps.flatMap(\.groups) { applications[group.text] = Application(group: group) }
        for app in apps { applications[app.identifier.text] = Application(app) }
        self.applications = applications
        addition = Addition(
            format: FinderManifest.format, databaseDigest: Data(databaseDigest),
            clearDatabaseDigest: encryption.map { Data($0.clearDigest) },
            passwordKeybag: origin.keybag.map { Data($0) })
        date = Date(timeIntervalSinceReferenceDate: origin.date)
        systemDomainsVersion = "24.0"
        wasPasscodeSet = device.hasPasscode
        lockdown = Lockdown(device)
    }
}

extension ManifestList: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decode(String.self, forKey: .version)
        isEncrypted = try container.decode(Bool.self, forKey: .isEncrypted)
        addition = try container.decodeIfPresent(Addition.self, forKey: .addition)
        keybag = try? container.decode(Data.self, forKey: .keybag)
        key = try? container.decode(Data.self, forKey: .key)
        // A newer format may have other types here; the version is then reported instead.
        applications = try? container.decodeIfPresent([String: Application].self, forKey: .applications) ?? [:]
    }
}

// MARK: - Apps

extension ManifestList {
    /// An app or a group container.
    struct Application: Encodable {
        /// Bundle or group identifier, and the kind of container: `Data/Application`, `Data/PluginKitPlugin` or
        /// `Shared/AppGroup`.
        var identifier, contentClass: String?
        var version: String?
        var addition: Addition?

        private enum CodingKeys: String, CodingKey {
            case identifier = "CFBundleIdentifier"
            case contentClass = "ContainerContentClass"
            case version = "CFBundleShortVersionString"
            case addition = "appcontainer"
        }

        /// Facts of an app that a restore needs and that Apple has no key for.
        struct Addition: Codable {
            /// nil for the name `$null`, which Foundation decodes as nil.
            var name: String?
            var groups: [String]
            var owner, ownerGroup: UInt32

            private enum CodingKeys: String, CodingKey {
                case name = "Name"
                case groups = "Groups"
                case owner = "Owner"
                case ownerGroup = "OwnerGroup"
            }
        }
    }
}

extension ManifestList.Application {
    /// The keys of a group container.
    init(group: ContainerIdentifier) {
        (identifier, contentClass) = (group.text, "Shared/AppGroup")
    }

    /// The keys of an app.
    init(_ app: BackupApp) {
        (identifier, contentClass, version) = (
            app.identifier.text, app.isExtension ? "Data/PluginKitPlugin" : "Data/Application", app.version
        )
        addition = Addition(
            name: app.name, groups: app.groups.map(\.text), owner: app.owner, ownerGroup: app.ownerGroup)
    }
}

extension ManifestList.Application: Decodable {
    init(from decoder: any Decoder) throws {
        // Other programs may have any value here. Only this project's key has to be valid.
        guard let container = try? decoder.container(keyedBy: CodingKeys.self) else { return }
        version = try? container.decode(String.self, forKey: .version)
        addition = try container.decodeIfPresent(Addition.self, forKey: .addition)
    }
}

extension BackupApp {
    /// `mobile`, the owner of every app's data on an iPhone.
    static let phoneUser: UInt32 = 501

    /// An app as a restore needs it. Without this project's keys it has no name and no groups, and belongs to `mobile`.
    /// - Parameter list: the app's keys in Manifest.plist, if there are any.
    /// - Returns: nil if this project's keys are invalid.
    init?(identifier: ContainerIdentifier, _ list: ManifestList.Application?) {
        self.init(
            identifier: identifier, name: "", version: list?.version ?? "", groups: [], owner: BackupApp.phoneUser,
            ownerGroup: BackupApp.phoneUser)
        guard let addition = list?.addition else { return }
        let groups = addition.groups.compactMap { ContainerIdentifier($0) }
        guard groups.count == addition.groups.count else { return nil }
        (name, self.groups) = (addition.name ?? "", groups)
        (owner, ownerGroup) = (addition.owner, addition.ownerGroup)
    }
}
