// The status of a host file as the mount shows it.

import BackingStore
import Glibc
import Platform
import SandboxModel

extension FileStatus {
    /// The status that the mount shows: the content's length instead of the backing file's, and the container's user as
    /// the owner of what belongs to the system. That user may write as far as the mode goes, so the app meets the
    /// sandbox's EPERM and not EACCES.
    ///
    /// - Parameters:
    ///   - home: nil where the zone does not need it.
    ///   - sealed: the number of a bundle's entry in its list of digests.
    func presented(zone: Zone, home: Home?, sealed: Int? = nil) -> FileStatus {
        var shown = raw
        if let home, let sealed { shown = home.bundle.present(sealed, self).raw }
        if kind == .file, zone != .bundle { shown.st_size = off_t(ContentLayout.length(ofBacking: size)) }
        switch zone {
        case .bundle, .inbox, .home, .metadata, .containers:
            guard let home else { break }
            shown.st_uid = home.owner
            shown.st_gid = home.group
            shown.st_mode |= S_IWUSR
            if zone == .home {
                shown.st_mode = S_IFDIR | (home.isPrivate ? 0o700 : 0o755)
                shown.st_nlink = nlink_t(home.linkCount)
            }
        case .device, .standardDirectory, .documents, .inboxItem, .cacheTag, .container:
            break
        }
        return FileStatus(shown)
    }

    /// As above, for a known node. The caller keeps the node's place.
    func presented(of node: Node) -> FileStatus {
        presented(zone: node.zone, home: node.zone == .container ? nil : node.home, sealed: node.rare?.sealed)
    }
}
