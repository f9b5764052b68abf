// Directories of the host that are named by a path: those that the process itself needs, such as a place to mount at.

import Glibc
public import SandboxModel

public enum HostDirectory {
    /// Makes a directory that only this user may enter, unless it is there.
    public static func make(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            try systemCall { unsafe mkdir(path, S_IRWXU) }
        } catch {
            guard error == .exists else { throw error }
        }
    }

    /// Removes a directory that is empty.
    public static func remove(_ path: String) throws(SystemError) {
        try systemCall { unsafe rmdir(path) }
    }
}
