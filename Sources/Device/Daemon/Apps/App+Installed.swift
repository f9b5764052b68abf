// An app of the registry, as the control API lists it.

public import AppContainer
public import BackingStore
import SandboxModel

extension App {
    /// - Parameters:
    ///   - mountPoint: nil when the app is not mounted.
    ///   - running: whether it runs now.
    public init(_ app: InstalledApp, mountPoint: String?, running: Bool = false) {
        self.init(
            identifier: app.identifier.text, name: app.displayName, bundle: app.bundleName.text,
            version: app.version.isEmpty ? nil : app.version, container: app.data.text,
            groups: app.groups.map(\.identifier.text), iCloud: app.iCloud.map(\.identifier.text), owner: app.owner,
            mountPoint: mountPoint, running: running)
        team = app.signature?.team
        signer = app.signature?.signerName
        entitlements = app.signature?.entitlements.values ?? [:]
    }
}
