// Manifest.plist key by key: Apple's by Apple's names, and what this project adds in dictionaries of its own.

import BackupModel
import FoundationEssentials
import SandboxModel

/// All that is written of it, of which not all is read: of a phone's, only what is needed has to make sense.
struct ManifestList: Encodable {
    struct Addition: Codable {
        var format: Int
        var databaseDigest: Data

        private enum CodingKeys: String, CodingKey {
            case format = "Format"
            case databaseDigest = "DatabaseDigest"
        }
    }

    struct Lockdown: Encodable {
        var name, systemVersion, identifier: String

        private enum CodingKeys: String, CodingKey {
            case name = "DeviceName"
            case systemVersion = "ProductVersion"
            case identifier = "UniqueDeviceID"
        }
    }

    var version: String
    var isEncrypted: Bool
    var keybag, key: Data?
    /// nil where they cannot be read.
    var applications: [String: Application]?
    var addition: Addition?
    // Written for others, and not read.
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
    init(
        apps: [BackupApp], device: FinderBackupDevice, date: Double, keybag: [UInt8]?, key: [UInt8]?,
        databaseDigest: [UInt8]
    ) {
        (version, isEncrypted) = (Manifest.version, keybag != nil)
        (self.keybag, self.key) = (keybag.map { Data($0) }, key.map { Data($0) })
        var applications: [String: Application] = [:]
        for group in apps.flatMap(\.groups) { applications[group.text] = Application(group: group) }
        for app in apps { applications[app.identifier.text] = Application(app) }
        self.applications = applications
        addition = Addition(format: Manifest.format, databaseDigest: Data(databaseDigest))
        self.date = Date(timeIntervalSinceReferenceDate: date)
        systemDomainsVersion = "24.0"
        wasPasscodeSet = device.hasPasscode
        lockdown = Lockdown(name: device.name, systemVersion: device.systemVersion, identifier: device.identifier)
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
        // In a newer format they may be anything, and it is that which is then told.
        applications = try? container.decodeIfPresent([String: Application].self, forKey: .applications) ?? [:]
    }
}

// MARK: - Apps

extension ManifestList {
    /// An app or a group.
    struct Application: Encodable {
        var identifier, contentClass: String?
        var version: String?
        var addition: Addition?

        private enum CodingKeys: String, CodingKey {
            case identifier = "CFBundleIdentifier"
            case contentClass = "ContainerContentClass"
            case version = "CFBundleShortVersionString"
            case addition = "appcontainer"
        }

        /// What a restore needs to know of an app, and Apple has no key for.
        struct Addition: Codable {
            /// nil for `$null`, which Foundation takes for nothing.
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
    init(group: ContainerIdentifier) {
        (identifier, contentClass) = (group.text, "Shared/AppGroup")
    }

    init(_ app: BackupApp) {
        (identifier, contentClass, version) = (app.identifier.text, "Data/Application", app.version)
        addition = Addition(
            name: app.name, groups: app.groups.map(\.text), owner: app.owner, ownerGroup: app.ownerGroup)
    }
}

extension ManifestList.Application: Decodable {
    init(from decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: CodingKeys.self) else { return }
        version = try? container.decode(String.self, forKey: .version)
        addition = try container.decodeIfPresent(Addition.self, forKey: .addition)
    }
}

extension BackupApp {
    /// `mobile`, to whom on a phone every app's data belongs.
    static let phoneUser: UInt32 = 501

    /// - Parameter list: what Manifest.plist says of it, as far as it says anything.
    /// - Returns: nil where what this project has added makes no sense.
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
