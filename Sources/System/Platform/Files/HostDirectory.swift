// Directories that the process itself needs, such as mount points.

import Glibc
public import SandboxModel

public enum HostDirectory {
    /// `mkdir(2)` with mode 0700. Succeeds if the path exists, whatever it is.
    public static func make(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            try systemCall { unsafe mkdir(path, S_IRWXU) }
        } catch {
            guard error == .exists else { throw error }
        }
    }

    /// `rmdir(2)`.
    /// - Throws: ENOTEMPTY, ENOENT; EBUSY for a mount point.
    public static func remove(_ path: String) throws(SystemError) {
        try systemCall { unsafe rmdir(path) }
    }
}
