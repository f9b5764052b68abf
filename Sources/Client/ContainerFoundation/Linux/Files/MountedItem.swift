// What the filesystem knows of a file or directory beyond POSIX, and whether there is such a filesystem at all.

import Foundation
import Glibc
import Platform
import SandboxModel

/// A path in an app's home that is mounted. The last name need not exist.
struct MountedItem {
    let path: String
    private let holder: AttributeHolder

    /// - Parameter following: whether a symbolic link at the path's end is followed, as by chmod(2), or is what is meant.
    /// - Returns: nil off a mount, where nothing of all this is known and nothing is to be left behind.
    init?(_ path: String, following: Bool = true) {
        guard let path = try? HostPath.absolute(path.withoutTrailingSlashes), MountedItem.isMounted(path, following)
        else {
            return nil
        }
        self.path = path
        holder = AttributeHolder(path: path, following: following)
    }

    /// An attribute that the filesystem makes up for each file and directory, and never lists: so none that was copied
    /// elsewhere can be taken for it. What cannot have it, as a link, or does not exist, is where its directory is.
    private static func isMounted(_ path: String, _ following: Bool) -> Bool {
        var place = path
        var following = following
        while true {
            do throws(SystemError) {
                _ = try AttributeHolder(path: place, following: following)
                    .value(of: Array(BackupInclusion.attributeName.utf8))
                return true
            } catch {
                switch error {
                case .noEntry, .accessDenied, .notDirectory, .tooManySymbolicLinks: break
                case .noAttribute:
                    let kind = try? HostPath.status(place, following: following).kind
                    if kind == .file || kind == .directory { return false }
                case .notSupported, .notPermitted: return false
                // It cannot be told: whoever is to be protected is not to go without it and hear nothing. The call itself
                // will fail for the same reason.
                default: return true
                }
            }
            guard let parent = HostPath.place(of: place)?.directory, parent != place else { return false }
            place = parent
            following = true
        }
    }

    // MARK: Exclusion from backups

    /// Apple's name of the mark without the prefix that other filesystems of Linux need: they refuse it.
    private static let mark = Array(BackupMark.attributeName.utf8.dropFirst("user.".utf8.count))

    func isExcludedFromBackup() throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try holder.value(of: MountedItem.mark)
            return true
        } catch {
            guard error == .noAttribute else { throw error }
            return false
        }
    }

    func setExcludedFromBackup(_ isExcluded: Bool) throws(SystemError) {
        if isExcluded {
            try holder.set(MountedItem.mark, to: BackupMark.canonicalValue)
        } else {
            try holder.remove(MountedItem.mark)
        }
    }

    // MARK: Protection

    /// - Returns: nil for what has no class, such as a symbolic link or the bundle.
    func protection() throws(SystemError) -> ProtectionClass? { try holder.protection() }

    func setProtection(_ protection: ProtectionClass) throws(SystemError) { try holder.setProtection(protection) }
}

extension AttributeHolder {
    /// The class of a file on a mount, or what a directory there gives; nil elsewhere, where an attribute of this name came
    /// with a copy.
    var mountedProtection: ProtectionClass? {
        guard (try? value(of: Array(BackupInclusion.attributeName.utf8))) != nil else { return nil }
        return try? protection()
    }

    func protection() throws(SystemError) -> ProtectionClass? {
        do throws(SystemError) {
            return ProtectionClass(attributeValue: try value(of: Array(ProtectionClass.attributeName.utf8)))
        } catch {
            guard error == .noAttribute else { throw error }
            return nil
        }
    }

    func setProtection(_ protection: ProtectionClass) throws(SystemError) {
        try set(Array(ProtectionClass.attributeName.utf8), to: Array(protection.foundationName.utf8))
    }
}
