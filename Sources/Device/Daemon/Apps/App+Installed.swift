// An app of the registry, as the control API lists it.

public import AppContainer
public import BackingStore
import SandboxModel

extension App {
    /// - Parameters:
    ///   - mountPoint: nil when the app is not mounted.
    ///   - running: whether it runs now.
    ///   - state: where it is then.
    public init(_ app: InstalledApp, mountPoint: String?, running: Bool = false, state: App.State = .foreground) {
        self.init(
            identifier: app.identifier.text, name: app.displayName, bundle: app.bundleName.text,
            version: app.version.isEmpty ? nil : app.version, container: app.data.text,
            groups: app.groups.map(\.identifier.text), iCloud: app.iCloud.map(\.identifier.text), owner: app.owner,
            mountPoint: mountPoint, running: running, state: state)
        team = app.signature?.team
        signer = app.signature?.signerName
        entitlements = app.signature?.entitlements.values ?? [:]
    }
}

extension App {
    /// The mount point of an app or extension, nil when it is not mounted; whether it runs now, and where it is then.
    public typealias Use = (mountPoint: String?, running: Bool, state: State)

    /// An app of a registry, with its extensions.
    public init(_ app: InstalledApp, in registry: AppRegistry, use: (InstalledApp) -> Use) {
        let own = use(app)
        self.init(app, mountPoint: own.mountPoint, running: own.running, state: own.state)
        extensions = registry.extensions(of: app.identifier).map { AppExtension($0, use($0)) }
    }

    /// Every app of a registry, with its extensions.
    public static func all(in registry: AppRegistry, use: (InstalledApp) -> Use) -> [App] {
        registry.apps.filter { $0.place == nil }.map { App($0, in: registry, use: use) }
    }
}

extension AppExtension {
    fileprivate init(_ app: InstalledApp, _ use: App.Use) {
        self.init(
            identifier: app.identifier.text, name: app.place?.shortName ?? "", container: app.data.text,
            groups: app.groups.map(\.identifier.text), iCloud: app.iCloud.map(\.identifier.text),
            entitlements: app.signature?.entitlements.values ?? [:], mountPoint: use.mountPoint, running: use.running,
            state: use.state)
    }
}
