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

/// One installed app, and the UUIDs of its containers.
public struct InstalledApp: Hashable, Sendable {
    public let identifier: ContainerIdentifier
    /// The name of the `.app` directory, in the bundle container and in the app's home.
    public let bundleName: FileName
    /// CFBundleDisplayName, or its substitute.
    public let displayName: String
    /// CFBundleShortVersionString; empty if the app has none.
    public let version: String
    /// CFBundleVersion; empty if the app has none.
    public let build: String
    /// CFBundleExecutable, a file directly in the bundle.
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
        identifier: ContainerIdentifier, bundleName: FileName, displayName: String, version: String, build: String,
        executable: FileName?, sharesDocuments: Bool, signature: AppSignature?, bundle: ContainerUUID,
        data: ContainerUUID,
        groups: [SharedContainerRecord], iCloud: [SharedContainerRecord], owner: UInt32, ownerGroup: UInt32
    ) {
        self.identifier = identifier
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

    /// Every container of the app, its own two first.
    public var containers: [(kind: ContainerKind, uuid: ContainerUUID)] {
        [(.bundle, bundle), (.data, data)] + groups.map { (.group, $0.uuid) } + iCloud.map { (.iCloud, $0.uuid) }
    }
}
