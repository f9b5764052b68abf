// The places of an app's home that a backup leaves out, as the mount names them.

public import BackingStore
import BackupModel
public import SandboxModel
import SandboxPolicy

extension BootedDevice {
    /// The paths in an app's home that a backup leaves out: the places that are never in one, then what bears the mark,
    /// in the order of a backup. Content of a directory that is left out is not named.
    ///
    /// - Parameter openFile: as for a backup.
    /// - Throws: ``Complaint`` of kind `unknownApp`, or `inUse` where a container was replaced meanwhile.
    public func pathsOutOfBackup(
        of app: InstalledApp, openFile: @escaping (UInt64) -> EncryptedFile? = { _ in nil }
    ) throws(Complaint) -> [[FileName]] {
        let groups = app.groups.map(\.identifier).sorted()
        var paths = SandboxPolicy.placesNeverInBackup(
            bundle: app.bundleName, groups: groups.compactMap { FileName($0.text) }, hasICloud: !app.iCloud.isEmpty)
        let own: BackupDomain = app.place == nil ? .app(app.identifier) : .plugin(app.identifier)
        try listBackup(BackupOrder(app: app.identifier), openFile: openFile) { listing in
            // Of the places, the host has others than the home shows.
            guard let reason = listing.leftOut, reason != .place else { return }
            switch listing.domain {
            case own: paths.append(listing.path)
            case .group(let group) where groups.contains(group):
                guard let name = FileName(group.text) else { return }
                paths.append([HomeLayout.groups, name] + listing.path)
            case .app, .plugin, .group, .other: return
            }
        }
        return paths
    }
}
