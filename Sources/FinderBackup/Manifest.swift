// Manifest.plist: what a backup says of itself and of the device and the apps that it comes from.

import BackupModel
import DataProtection
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
    /// What this project adds, in a dictionary of its own. Raised when an older version could not restore what is there.
    private static let format: Int64 = 1
    static let additionKey = "appcontainer"

    var keybag: [UInt8]?
    /// The key of Manifest.db, wrapped.
    var key: [UInt8]?
    /// SHA-256 of Manifest.db, in backups of our own; nil in others.
    var databaseDigest: [UInt8]?
    var applications: [String: PropertyList]

    var isOwn: Bool { databaseDigest != nil }
    var isEncrypted: Bool { keybag != nil }

    enum Flaw: Error {
        case damaged
        case newer(String)
    }

    init(decoding bytes: [UInt8]) throws(Flaw) {
        guard let list = PropertyList(decoding: bytes), let version = list["Version"]?.string,
            let major = version.split(separator: ".").first.flatMap({ Int($0) }),
            let isEncrypted = list["IsEncrypted"]?.boolean
        else { throw .damaged }
        guard major <= Manifest.majorVersion else { throw .newer(version) }
        if let addition = list[Manifest.additionKey] {
            guard let format = addition["Format"]?.integer, let digest = addition["DatabaseDigest"]?.data else {
                throw .damaged
            }
            guard format <= Manifest.format else { throw .newer("appcontainer \(format)") }
            databaseDigest = digest
        }
        (keybag, key) = (list["BackupKeyBag"]?.data, list["ManifestKey"]?.data)
        // A phone's unencrypted backup may have a keybag all the same; what it says of itself is what counts.
        if !isEncrypted { (keybag, key) = (nil, nil) }
        guard (keybag != nil) == isEncrypted, (key != nil) == isEncrypted else { throw .damaged }
        applications = list["Applications"]?.dictionary ?? [:]
    }

    static func encoded(
        apps: [BackupApp], device: FinderBackupDevice, date: Double, keybag: [UInt8]?, key: [UInt8]?,
        databaseDigest: [UInt8]
    ) -> [UInt8] {
        var applications: [String: PropertyList] = [:]
        for app in apps {
            for group in app.groups {
                applications[group.text] = .dictionary([
                    "CFBundleIdentifier": .string(group.text), "ContainerContentClass": .string("Shared/AppGroup"),
                ])
            }
        }
        for app in apps { applications[app.identifier.text] = .init(app) }
        var values: [String: PropertyList] = [
            "Version": .string(version), "Date": .date(date), "SystemDomainsVersion": .string("24.0"),
            "WasPasscodeSet": .boolean(device.hasPasscode), "IsEncrypted": .boolean(keybag != nil),
            "Lockdown": .dictionary([
                "DeviceName": .string(device.name), "ProductVersion": .string(device.systemVersion),
                "UniqueDeviceID": .string(device.identifier),
            ]),
            "Applications": .dictionary(applications),
            additionKey: .dictionary(["Format": .integer(format), "DatabaseDigest": .data(databaseDigest)]),
        ]
        values["BackupKeyBag"] = keybag.map { .data($0) }
        values["ManifestKey"] = key.map { .data($0) }
        return PropertyList.dictionary(values).encoded
    }
}

extension PropertyList {
    fileprivate init(_ app: BackupApp) {
        self = .dictionary([
            "CFBundleIdentifier": .string(app.identifier.text), "CFBundleShortVersionString": .string(app.version),
            "ContainerContentClass": .string("Data/Application"),
            Manifest.additionKey: .dictionary([
                "Name": .string(app.name), "Groups": .array(app.groups.map { .string($0.text) }),
                "Owner": .integer(Int64(app.owner)), "OwnerGroup": .integer(Int64(app.ownerGroup)),
            ]),
        ])
    }
}

extension BackupApp {
    /// `mobile`, to whom on a phone every app's data belongs.
    static let phoneUser: UInt32 = 501

    /// - Parameter list: what Manifest.plist says of it, as far as it says anything.
    /// - Returns: nil where what this project has added makes no sense.
    init?(identifier: ContainerIdentifier, _ list: PropertyList?) {
        self.init(
            identifier: identifier, name: "", version: list?["CFBundleShortVersionString"]?.string ?? "", groups: [],
            owner: BackupApp.phoneUser, ownerGroup: BackupApp.phoneUser)
        guard let addition = list?[Manifest.additionKey] else { return }
        guard let name = addition["Name"]?.string, let list = addition["Groups"]?.array,
            let owner = addition["Owner"]?.integer.flatMap({ UInt32(exactly: $0) }),
            let ownerGroup = addition["OwnerGroup"]?.integer.flatMap({ UInt32(exactly: $0) })
        else { return nil }
        let groups = list.compactMap { $0.string.flatMap { ContainerIdentifier($0) } }
        guard groups.count == list.count else { return nil }
        (self.name, self.groups, self.owner, self.ownerGroup) = (name, groups, owner, ownerGroup)
    }
}
