// Info.plist, which tools show, and Status.plist, which says whether the backup was finished.

import BackupModel
import FoundationEssentials
import Platform
import PropertyLists
import SandboxModel

/// Info.plist, for other tools. This project reads nothing from it. Apple does not document the keys of either list;
/// they are those of Finder's own backups.
struct BackupInformation: Encodable {
    static let fileName: FileName = "Info.plist"

    private let deviceName, displayName: String
    private let targetIdentifier, uniqueIdentifier: String
    private let targetType = "Device"
    private let productVersion: String
    // Properties that no such device has. Tools require the keys.
    private let imei = ""
    private let meid = ""
    private let iccid = ""
    private let phoneNumber = ""
    private let serialNumber = ""
    private let productName = ""
    private let buildVersion = ""
    private let productType = ""
    private let iTunesVersion = ""
    /// 32 digits, random for each backup.
    private let guid = Entropy.uuid().filter { $0 != "-" }
    private let date: Date
    private let installedApplications: [String]
    /// By bundle identifier.
    private let applications: [String: Application]

    /// An app, as Finder describes it.
    private struct Application: Encodable {
        /// A property list of what the App Store says of the app; tools require the key. No app here is of a store, so
        /// it has what the app says of itself.
        let metadata: Data

        private enum CodingKeys: String, CodingKey {
            case metadata = "iTunesMetadata"
        }

        init(_ app: BackupApp) {
            let list = PropertyList.dictionary([
                "softwareVersionBundleId": .string(app.identifier.text), "itemName": .string(app.name),
                "bundleShortVersionString": .string(app.version),
            ])
            metadata = Data(list.encoded)
        }
    }

    private enum CodingKeys: String, CodingKey {
        case deviceName = "Device Name"
        case displayName = "Display Name"
        case targetIdentifier = "Target Identifier"
        case uniqueIdentifier = "Unique Identifier"
        case targetType = "Target Type"
        case productVersion = "Product Version"
        case imei = "IMEI"
        case meid = "MEID"
        case iccid = "ICCID"
        case phoneNumber = "Phone Number"
        case serialNumber = "Serial Number"
        case buildVersion = "Build Version"
        case productName = "Product Name"
        case productType = "Product Type"
        case iTunesVersion = "iTunes Version"
        case guid = "GUID"
        case date = "Last Backup Date"
        case installedApplications = "Installed Applications"
        case applications = "Applications"
    }

    init(_ origin: FinderBackupOrigin) {
        let device = origin.device
        (deviceName, displayName) = (device.name, device.name)
        (targetIdentifier, uniqueIdentifier) = (device.identifier, device.identifier)
        productVersion = device.systemVersion
        date = Date(timeIntervalSinceReferenceDate: origin.date)
        installedApplications = origin.apps.map(\.identifier.text)
        applications = Dictionary(uniqueKeysWithValues: origin.apps.map { ($0.identifier.text, Application($0)) })
    }
}

/// Status.plist. Its key `appcontainer` is this project's own.
struct BackupStatus: Encodable {
    static let fileName: FileName = "Status.plist"
    private static let finished = "finished"

    /// The value of this project's key.
    private struct Addition: Codable {
        var manifestDigest: Data

        enum CodingKeys: String, CodingKey {
            case manifestDigest = "ManifestDigest"
        }
    }

    /// `finished`, or `uploading` while the backup is being written.
    private let state: String
    private let addition: Addition?
    // Written for other tools, and not read.
    private var identifier, version, backupState: String?
    private var isFullBackup: Bool?
    private var date: Date?

    private enum CodingKeys: String, CodingKey {
        case state = "SnapshotState"
        case addition = "appcontainer"
        case identifier = "UUID"
        case version = "Version"
        case backupState = "BackupState"
        case isFullBackup = "IsFullBackup"
        case date = "Date"
    }

    var isFinished: Bool { state == BackupStatus.finished }
    /// SHA-256 of Manifest.plist, in backups of this project.
    var manifestDigest: [UInt8]? { addition.map { Array($0.manifestDigest) } }

    /// - Parameters:
    ///   - date: seconds since 2001.
    ///   - manifestDigest: nil while the backup is being written.
    init(date: Double, manifestDigest: [UInt8]?) {
        state = manifestDigest == nil ? "uploading" : BackupStatus.finished
        addition = manifestDigest.map { Addition(manifestDigest: Data($0)) }
        // Version and state as in Finder's own backups.
        (identifier, version, backupState) = (Entropy.uuid(), "3.3", "new")
        isFullBackup = true
        self.date = Date(timeIntervalSinceReferenceDate: date)
    }
}

extension BackupStatus: Decodable {
    // An invalid value of this project's key counts as none, which a backup of this project must not have.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        state = try container.decode(String.self, forKey: .state)
        addition = try? container.decode(Addition.self, forKey: .addition)
    }
}
