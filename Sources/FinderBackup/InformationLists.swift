// Info.plist, which tools show, and Status.plist, which says whether the backup was finished.

import BackupModel
import Platform
import SandboxModel

/// Info.plist: for people and tools; nothing is read from it.
enum BackupInformation {
    static let fileName: FileName = "Info.plist"

    static func encoded(apps: [BackupApp], device: FinderBackupDevice, date: Double) -> [UInt8] {
        PropertyList.dictionary([
            "Device Name": .string(device.name), "Display Name": .string(device.name),
            "Target Identifier": .string(device.identifier), "Unique Identifier": .string(device.identifier),
            "Target Type": .string("Device"), "Product Version": .string(device.systemVersion),
            // What no such device has; tools ask for them without asking whether they are there.
            "IMEI": .string(""), "Serial Number": .string(""), "Build Version": .string(""),
            "Product Type": .string(""), "iTunes Version": .string(""),
            "GUID": .string(Entropy.uuid().filter { $0 != "-" }), "Last Backup Date": .date(date),
            "Installed Applications": .array(apps.map { .string($0.identifier.text) }),
            "Applications": .dictionary(
                Dictionary(uniqueKeysWithValues: apps.map { ($0.identifier.text, .dictionary([:])) })),
        ]).encoded
    }
}

/// Status.plist.
struct BackupStatus {
    static let fileName: FileName = "Status.plist"
    private static let finished = "finished"

    let isFinished: Bool
    /// SHA-256 of Manifest.plist, in backups of our own.
    let manifestDigest: [UInt8]?

    init?(decoding bytes: [UInt8]) {
        guard let list = PropertyList(decoding: bytes), let state = list["SnapshotState"]?.string else { return nil }
        isFinished = state == BackupStatus.finished
        manifestDigest = list[Manifest.additionKey]?["ManifestDigest"]?.data
    }

    /// - Parameter manifestDigest: nil while the backup is being written.
    static func encoded(date: Double, manifestDigest: [UInt8]?) -> [UInt8] {
        var values: [String: PropertyList] = [
            "UUID": .string(Entropy.uuid()), "IsFullBackup": .boolean(true), "Version": .string("3.3"),
            "BackupState": .string("new"), "Date": .date(date),
            "SnapshotState": .string(manifestDigest == nil ? "uploading" : finished),
        ]
        values[Manifest.additionKey] = manifestDigest.map { .dictionary(["ManifestDigest": .data($0)]) }
        return PropertyList.dictionary(values).encoded
    }
}
