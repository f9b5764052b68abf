// The record of an installed app and its containers.

public import SandboxModel

/// The record of a group or iCloud container that an app is entitled to.
public struct SharedContainerRecord: Hashable, Sendable {
    public let identifier: ContainerIdentifier
    public let uuid: ContainerUUID

    public init(identifier: ContainerIdentifier, uuid: ContainerUUID) {
        self.identifier = identifier
        self.uuid = uuid
    }
}

/// The place of an app extension: a bundle in its app's `PlugIns`.
public struct ExtensionPlace: Hashable, Sendable {
    /// The app that it is installed, updated and removed with.
    public let app: ContainerIdentifier
    /// The name of its bundle, such as `Share.appex`.
    public let name: FileName

    public init(app: ContainerIdentifier, name: FileName) {
        self.app = app
        self.name = name
    }

    /// The name without `.appex`.
    public var shortName: String { name.text.split(separator: ".").dropLast().joined(separator: ".") }
}

/// One installed app or app extension, and the UUIDs of its containers. An extension has the bundle of its app, and a
/// data container of its own.
public struct InstalledApp: Hashable, Sendable {
    public let identifier: ContainerIdentifier
    /// The place of an app extension; nil for an app.
    public let place: ExtensionPlace?
    /// The name of the `.app` directory, in the bundle container and in the app's home.
    public let bundleName: FileName
    /// CFBundleDisplayName, or its substitute.
    public let displayName: String
    /// CFBundleShortVersionString; empty if the app has none.
    public let version: String
    /// CFBundleVersion; empty if the app has none.
    public let build: String
    /// CFBundleExecutable, a file directly in the bundle, or in the extension's.
    public let executable: FileName?
    /// UIFileSharingEnabled.
    public let sharesDocuments: Bool
    /// The facts of its signature; nil for an app that was installed before they were kept.
    public let signature: AppSignature?
    public let bundle: ContainerUUID
    public var data: ContainerUUID
    public var groups: [SharedContainerRecord]
    public var iCloud: [SharedContainerRecord]
    /// The owner of the container, by default the user who ran `install`: a uid and a gid of the host.
    public let owner: UInt32
    public let ownerGroup: UInt32

    public init(
        identifier: ContainerIdentifier, place: ExtensionPlace? = nil, bundleName: FileName, displayName: String,
        version: String, build: String, executable: FileName?, sharesDocuments: Bool, signature: AppSignature?,
        bundle: ContainerUUID, data: ContainerUUID,
        groups: [SharedContainerRecord], iCloud: [SharedContainerRecord], owner: UInt32, ownerGroup: UInt32
    ) {
        self.identifier = identifier
        self.place = place
        self.bundleName = bundleName
        self.displayName = displayName
        self.version = version
        self.build = build
        self.executable = executable
        self.sharesDocuments = sharesDocuments
        self.signature = signature
        self.bundle = bundle
        self.data = data
        self.groups = groups
        self.iCloud = iCloud
        self.owner = owner
        self.ownerGroup = ownerGroup
    }

    /// The path of the executable from the home; nil where there is none.
    public var executablePath: [FileName]? {
        guard let executable else { return nil }
        guard let place else { return [bundleName, executable] }
        return [bundleName, HomeLayout.plugIns, place.name, executable]
    }

    /// The app that it is installed, updated and removed with: itself, or an extension's app.
    public var appIdentifier: ContainerIdentifier { place?.app ?? identifier }

    /// Every container of the app, its own two first.
    public var containers: [(kind: ContainerKind, uuid: ContainerUUID)] {
        [(.bundle, bundle), (.data, data)] + groups.map { (.group, $0.uuid) } + iCloud.map { (.iCloud, $0.uuid) }
    }
}
