// The first entry of an archive: its apps, and the backup that it continues. The module's only file with Foundation.

import BackupModel
import FoundationEssentials
import Glibc
import SandboxModel
import TarFormat

/// The content of `.appcontainer/Backup.json`. It has neither time nor place, so that equal content gives equal
/// backups.
struct BackupDescription: Codable, Equatable {
    /// Raised with every change that an older version could not read, or would write otherwise.
    static let currentFormat = 1
    static let directory: FileName = ".appcontainer"
    static let path = Array(".appcontainer/Backup.json".utf8)
    /// The limit in bytes, for more apps than any device has.
    static let longest: Int64 = 16 << 20

    /// A ``BackupApp`` in JSON.
    struct App: Codable, Equatable {
        var identifier: String
        var name: String
        var version: String
        var groups: [String]
        /// Whether it is an app extension; nil for an app.
        var isExtension: Bool?
        var owner: UInt32
        var ownerGroup: UInt32
    }

    /// The earlier backup that an incremental one continues.
    struct Base: Codable, Equatable {
        /// The path of the earlier backup from the directory of this one.
        var file: String
        /// The digest of the earlier backup's manifest, in hexadecimal.
        var identity: String
    }

    var format = BackupDescription.currentFormat
    var apps: [App]
    var base: Base?
    /// The device's class keys under its backup password; nil without one.
    var keybag: Data?

    init(apps: [BackupApp], base: Base?, keybag: [UInt8]? = nil) {
        self.keybag = keybag.map { Data($0) }
        self.apps = apps.map { app in
            App(
                identifier: app.identifier.text, name: app.name, version: app.version,
                groups: app.groups.map(\.text), isExtension: app.isExtension ? true : nil, owner: app.owner,
                ownerGroup: app.ownerGroup)
        }
        self.base = base
    }

    /// The JSON text, the same for equal descriptions.
    func encoded() throws(ArchiveFlaw) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        } catch {
            throw ArchiveFlaw("cannot hold the description of its apps")
        }
    }

    /// The only key that every format has.
    private struct Version: Codable {
        var format: Int
    }

    /// Decodes a description.
    /// - Returns: nil for a description of a newer format.
    /// - Throws: ``ArchiveFlaw`` for anything else that is no description.
    static func decode(_ bytes: [UInt8]) throws(ArchiveFlaw) -> BackupDescription? {
        let decoder = JSONDecoder()
        let data = Data(bytes)
        guard let version = try? decoder.decode(Version.self, from: data), version.format > 0 else {
            throw .altered(path)
        }
        // By the number alone, as other keys of a newer format may not decode.
        guard version.format <= currentFormat else { return nil }
        guard let description = try? decoder.decode(BackupDescription.self, from: data) else { throw .altered(path) }
        return description
    }

    /// The keybag under a backup password, as a backup source gives it.
    var passwordKeybag: [UInt8]? { keybag.map { Array($0) } }

    /// The apps as a backup source gives them.
    /// - Throws: ``ArchiveFlaw`` for an invalid identifier.
    func backupApps() throws(ArchiveFlaw) -> [BackupApp] {
        var known: [BackupApp] = []
        for app in apps {
            let groups = app.groups.compactMap { ContainerIdentifier($0) }
            guard let identifier = ContainerIdentifier(app.identifier), groups.count == app.groups.count else {
                throw ArchiveFlaw("names an app that there cannot be: \(app.identifier.utf8.shown)")
            }
            known.append(
                BackupApp(
                    identifier: identifier, name: app.name, version: app.version, groups: groups,
                    isExtension: app.isExtension ?? false, owner: app.owner,
                    ownerGroup: app.ownerGroup))
        }
        return known
    }
}
