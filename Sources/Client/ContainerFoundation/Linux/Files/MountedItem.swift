// Files and directories on a mount, with the attributes that this filesystem adds to POSIX.

import Foundation
import Glibc
import Platform
import SandboxModel

/// A path in a mounted home. The last name need not exist.
struct MountedItem {
    let path: String
    private let holder: AttributeHolder

    /// - Parameter following: whether to follow a symbolic link at the end of the path.
    /// - Returns: nil off a mount.
    init?(_ path: String, following: Bool = true) {
        guard let path = try? HostPath.absolute(HostPath.withoutTrailingSlashes(path)),
            MountedItem.isMounted(path, following)
        else { return nil }
        self.path = path
        holder = AttributeHolder(path: path, following: following)
    }

    /// Reads an attribute that the filesystem has for each file and directory and never lists, so that no copy
    /// elsewhere can have it. For a symbolic link, and for a path that does not exist, the parent directory decides.
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
                // Unknown. Assuming a mount is the safe side: the call itself will fail for the same reason, and no
                // file goes unprotected silently.
                default: return true
                }
            }
            guard let parent = HostPath.place(of: place)?.directory, parent != place else { return false }
            place = parent
            following = true
        }
    }

    // MARK: Exclusion from backups

    /// Apple's attribute name, without the prefix `user.` that other Linux filesystems require.
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

    /// - Returns: nil for items without a class, such as symbolic links or the bundle.
    func protection() throws(SystemError) -> ProtectionClass? { try holder.protection() }

    func setProtection(_ protection: ProtectionClass) throws(SystemError) { try holder.setProtection(protection) }
}

extension AttributeHolder {
    /// The class of a file on a mount, or the class that a directory gives. Nil off a mount, where an attribute of this
    /// name came with a copy.
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
