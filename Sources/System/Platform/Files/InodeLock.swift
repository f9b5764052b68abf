// Waiting for the holder of an inode's lock, such as a write(2) under way, by a call that changes nothing.

import SandboxModel

extension AttributeHolder {
    /// Takes and releases the inode lock of a regular file, by a `setxattr(2)` that the kernel refuses.
    ///
    /// Only directories can have a default access control list. The kernel checks that with the lock held and before it
    /// asks the filesystem (`vfs_set_acl` in fs/posix_acl.c), so that a FUSE server gets no request.
    ///
    /// - Returns: false if the kernel answered otherwise; it may not have taken the lock then.
    public func passInodeLock() -> Bool {
        do throws(SystemError) {
            try set(AttributeHolder.defaultList, to: AttributeHolder.ownerOnly)
            return false
        } catch {
            return error == .accessDenied
        }
    }

    private static let defaultList = Array("system.posix_acl_default".utf8)

    /// include/uapi/linux/posix_acl_xattr.h: version 2, then tag, permissions and identifier of each entry.
    private static let ownerOnly: [UInt8] =
        [2, 0, 0, 0]
        + [0x01, 0, 6, 0, 0xFF, 0xFF, 0xFF, 0xFF]  // the owner
        + [0x04, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]  // the group
        + [0x20, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]  // all others
}
