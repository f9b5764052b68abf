// The device's records as JSON. The only file of this module that uses Foundation.

import FoundationEssentials
import Platform
import SandboxModel

/// The content of Device.json.
struct DeviceRecord: Codable, Equatable {
    /// The newest format. Raised with every change that an older version could not read, or would undo.
    static let currentFormat = 4

    var format = DeviceRecord.currentFormat
    var uuid: String
    /// ISO 8601, in UTC.
    var created: String
    var settings: DeviceSettings
}

/// Encodes and decodes the records. A record that does not decode is damaged: see ``damaged(_:)``.
enum DeviceRecords {
    /// JSON with sorted keys and a newline at the end: the same bytes for the same record.
    static func encode(_ record: some Encodable) throws(Complaint) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(record)) + [UInt8(ascii: "\n")]
        } catch {
            throw Complaint(.unexpected, "cannot write a record of the device: \(error)")
        }
    }

    /// - Parameter file: the file's path, for the complaint.
    /// - Throws: ``Complaint`` of kind `damaged`.
    static func decode<Record: Decodable>(
        _ type: Record.Type, from bytes: [UInt8], file: String
    ) throws(Complaint) -> Record {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw damaged(file)
        }
    }

    /// The complaint about a record that does not decode, or whose values are impossible.
    static func damaged(_ file: String) -> Complaint {
        Complaint(.damaged, "\(file) is damaged; restore it from a copy of the device")
    }

    /// The format alone, which every newer version keeps readable.
    static func format(of bytes: [UInt8], file: String) throws(Complaint) -> Int {
        struct Format: Decodable {
            let format: Int
        }
        return try decode(Format.self, from: bytes, file: file).format
    }

    /// The present time in ISO 8601, UTC.
    static func now() -> String { Date.now.formatted(.iso8601) }

    // MARK: The registry of apps

    /// The content of Apps.json. The types here are apart from the model's, so that renaming a field there changes no
    /// file.
    private struct Registry: Codable {
        var apps: [App]
        /// nil if none waits.
        var waiting: [Waiting]?
    }

    /// A ``WaitingContainer`` in JSON.
    private struct Waiting: Codable {
        var identifier, uuid: String
        var isGroup: Bool
        var owner, ownerGroup: UInt32
        /// nil if it had none.
        var groups: [String]?

        init(_ container: WaitingContainer) {
            identifier = container.identifier.text
            uuid = container.uuid.text
            isGroup = container.kind == .group
            owner = container.owner
            ownerGroup = container.ownerGroup
            groups = container.groups.isEmpty ? nil : container.groups.map(\.text)
        }

        /// nil if an identifier or a UUID is invalid.
        var container: WaitingContainer? {
            guard let identifier = ContainerIdentifier(identifier), let uuid = ContainerUUID(uuid) else { return nil }
            return WaitingContainer(
                kind: isGroup ? .group : .data, identifier: identifier, uuid: uuid, owner: owner,
                ownerGroup: ownerGroup, groups: (groups ?? []).compactMap { ContainerIdentifier($0) })
        }
    }

    /// An ``InstalledApp`` in JSON.
    private struct App: Codable {
        var identifier: String
        /// Of an extension: its app's identifier, and the name of its own bundle. nil for an app.
        var extensionOf, extensionName: String?
        var bundleName, displayName, version, build: String
        var executable: String?
        var sharesDocuments: Bool
        var signature: Signature?
        var bundle, data: String
        var groups, iCloud: [Shared]
        var owner, ownerGroup: UInt32

        /// nil where a name or a UUID is invalid: they become names of directories.
        var app: InstalledApp? {
            let (shared, cloud) = (groups.compactMap(\.container), iCloud.compactMap(\.container))
            guard let identifier = ContainerIdentifier(identifier), let bundleName = FileName(bundleName),
                let bundle = ContainerUUID(bundle), let data = ContainerUUID(data), shared.count == groups.count,
                cloud.count == iCloud.count, (signature == nil) == (signature?.signature == nil),
                (extensionOf == nil) == (place == nil), (extensionOf == nil) == (extensionName == nil)
            else { return nil }
            return InstalledApp(
                identifier: identifier, place: place, bundleName: bundleName, displayName: displayName,
                version: version, build: build, executable: executable.flatMap { FileName($0) },
                sharesDocuments: sharesDocuments, signature: signature?.signature, bundle: bundle, data: data,
                groups: shared, iCloud: cloud, owner: owner, ownerGroup: ownerGroup)
        }

        /// nil for an app, and for an extension whose place is invalid.
        private var place: ExtensionPlace? {
            guard let app = extensionOf.flatMap({ ContainerIdentifier($0) }),
                let name = extensionName.flatMap({ FileName($0) })
            else { return nil }
            return ExtensionPlace(app: app, name: name)
        }
    }

    /// An ``AppSignature`` in JSON.
    private struct Signature: Codable {
        /// nil where nobody has signed, or the device.
        var key, name: String?
        var isDevice: Bool
        var team: String?
        var entitlements: [String: EntitlementValue]

        init(_ signature: AppSignature) {
            if case .owner(let owner) = signature.signer {
                key = owner.key.hexadecimal
                name = owner.name
            }
            isDevice = signature.signer == .device
            team = signature.team
            entitlements = signature.entitlements.values
        }

        /// nil if the key is no digest.
        var signature: AppSignature? {
            let entitlements = Entitlements(entitlements)
            guard let key else {
                return AppSignature(signer: isDevice ? .device : .nobody, team: team, entitlements: entitlements)
            }
            guard let key = [UInt8](hexadecimal: Array(key.utf8)[...]) else { return nil }
            let owner = AppSignature.OfKey(key: key, name: name ?? "")
            return AppSignature(signer: .owner(owner), team: team, entitlements: entitlements)
        }
    }

    /// A ``SharedContainerRecord`` in JSON.
    private struct Shared: Codable {
        var identifier, uuid: String

        init(_ container: SharedContainerRecord) {
            identifier = container.identifier.text
            uuid = container.uuid.text
        }

        var container: SharedContainerRecord? {
            guard let identifier = ContainerIdentifier(identifier), let uuid = ContainerUUID(uuid) else { return nil }
            return SharedContainerRecord(identifier: identifier, uuid: uuid)
        }
    }

    static func encode(_ registry: AppRegistry) throws(Complaint) -> [UInt8] {
        let apps = registry.apps.map { app in
            App(
                identifier: app.identifier.text, extensionOf: app.place?.app.text, extensionName: app.place?.name.text,
                bundleName: app.bundleName.text, displayName: app.displayName, version: app.version, build: app.build,
                executable: app.executable?.text,
                sharesDocuments: app.sharesDocuments, signature: app.signature.map(Signature.init),
                bundle: app.bundle.text, data: app.data.text,
                groups: app.groups.map(Shared.init), iCloud: app.iCloud.map(Shared.init), owner: app.owner,
                ownerGroup: app.ownerGroup)
        }
        let waiting = registry.waiting.isEmpty ? nil : registry.waiting.map(Waiting.init)
        return try encode(Registry(apps: apps, waiting: waiting))
    }

    /// Encodes a registry, if it could be read back.
    /// - Parameter file: the file's path, for the complaint.
    /// - Throws: ``Complaint`` of kind `unexpected`.
    static func readable(_ registry: AppRegistry, file: String) throws(Complaint) -> [UInt8] {
        let bytes = try encode(registry)
        // The rest is for the authentication code.
        guard bytes.count <= RecordFile.largest - 1024 else {
            throw Complaint(
                .unexpected,
                "\(file) would be larger than \(RecordFile.largest >> 20) MiB; nothing was changed; uninstall apps whose "
                    + "entitlements are large")
        }
        guard let again = try? Self.registry(from: bytes, file: file), again.apps.count == registry.apps.count else {
            throw Complaint(
                .unexpected, "\(file) could not be read back with what the app brings; nothing was changed")
        }
        return bytes
    }

    /// - Parameter file: the file's path, for the complaint.
    /// - Throws: ``Complaint`` of kind `damaged`.
    static func registry(from bytes: [UInt8], file: String) throws(Complaint) -> AppRegistry {
        let record = try decode(Registry.self, from: bytes, file: file)
        let waiting = (record.waiting ?? []).compactMap(\.container)
        guard waiting.count == record.waiting?.count ?? 0 else { throw damaged(file) }
        let apps = record.apps.compactMap(\.app)
        guard apps.count == record.apps.count, apps.allSatisfy({ $0.hasItsApp(among: apps) }) else {
            throw damaged(file)
        }
        return AppRegistry(apps: apps, waiting: waiting)
    }
}

extension InstalledApp {
    /// Whether it is an app, or an extension that lies in the bundle of one of these apps.
    fileprivate func hasItsApp(among apps: [InstalledApp]) -> Bool {
        guard let place else { return true }
        return apps.contains { $0.identifier == place.app && $0.place == nil && $0.bundle == bundle }
    }
}
