// Waiting for whoever holds an inode's lock, a write(2) for example, with a call that changes nothing.

import SandboxModel

extension AttributeHolder {
    /// Takes the inode's lock of a regular file, and gives it back.
    ///
    /// A default access control list belongs to directories only. The kernel looks at that when it holds the lock, and
    /// before it asks the filesystem (`vfs_set_acl` in fs/posix_acl.c), so that a filesystem process gets no request.
    ///
    /// - Returns: false where the kernel did not answer like that: nothing was waited for then, perhaps.
    public func passInodeLock() -> Bool {
        do throws(SystemError) {
            try set(AttributeHolder.defaultList, to: AttributeHolder.ownerOnly)
            return false
        } catch {
            return error == .accessDenied
        }
    }

    private static let defaultList = Array("system.posix_acl_default".utf8)

    /// A list as include/uapi/linux/posix_acl_xattr.h has it: version 2; then tag, permissions and number of each entry.
    private static let ownerOnly: [UInt8] =
        [2, 0, 0, 0]
        + [0x01, 0, 6, 0, 0xFF, 0xFF, 0xFF, 0xFF]  // the owner
        + [0x04, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]  // the group
        + [0x20, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]  // all others
}
