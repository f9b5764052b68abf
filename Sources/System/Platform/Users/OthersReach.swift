// Directories that other users can put something else in place of.

import Glibc
public import SandboxModel

extension Descriptor {
    /// The nearest directory, this one or one above it, whose entries another user may rename: one that is another
    /// user's, or that others may write to. Where only owners may rename entries (the sticky bit, as /tmp has it),
    /// what another user owns is found by itself.
    ///
    /// A path below such a directory is not to be used twice: it may lead elsewhere the second time.
    /// - Returns: its path; nil where there is none.
    public borrowing func directoryOfOthers() throws(SystemError) -> String? {
        var found: String?
        try ascend { (directory) throws(SystemError) in
            let status = try directory.status()
            let isOwn = status.owner == 0 || status.owner == geteuid()
            let isShared = status.permissions & (S_IWGRP | S_IWOTH) != 0 && status.permissions & S_ISVTX == 0
            guard !isOwn || isShared else { return true }
            found = try HostPath.symbolicLinkTarget("/proc/self/fd/\(directory.number)")
            return false
        }
        return found
    }
}
