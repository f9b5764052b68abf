// The parts of a home that an update of its app replaces.

public import BackingStore
public import Platform
public import SandboxModel

/// The new values of the parts of a home that an update changes.
public struct HomeUpdate: Sendable {
    public let app: ContainerIdentifier
    public let bundleName: FileName
    public let bundle: SealedBundle
    /// The data container, which is the same directory as before.
    public let data: SharedDescriptor
    public let groups: [ContainerIdentifier: SharedDescriptor]
    public let iCloud: [ContainerIdentifier: SharedDescriptor]

    public init(
        app: ContainerIdentifier, bundleName: FileName, bundle: SealedBundle, data: SharedDescriptor,
        groups: [ContainerIdentifier: SharedDescriptor], iCloud: [ContainerIdentifier: SharedDescriptor]
    ) {
        self.app = app
        self.bundleName = bundleName
        self.bundle = bundle
        self.data = data
        self.groups = groups
        self.iCloud = iCloud
    }
}

extension Home {
    /// The home after an update.
    public func updated(_ update: HomeUpdate) -> Home {
        var home = self
        home.bundleName = update.bundleName
        home.bundle = update.bundle
        home.groups = update.groups
        home.iCloud = update.iCloud
        return home
    }
}
