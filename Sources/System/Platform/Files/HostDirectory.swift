// Directories that the process itself needs, such as mount points. They are the superuser's where this process is
// (`ActingUser`).

public import Glibc
public import SandboxModel

public enum HostDirectory {
    /// `mkdir(2)`. Succeeds if the path exists, whatever it is.
    public static func make(_ path: String, mode: mode_t = S_IRWXU) throws(SystemError) {
        do throws(SystemError) {
            try ActingUser.asSuperuser { () throws(SystemError) in try systemCall { unsafe mkdir(path, mode) } }
        } catch {
            guard error == .exists else { throw error }
        }
    }

    /// `rmdir(2)`.
    /// - Throws: ENOTEMPTY, ENOENT; EBUSY for a mount point.
    public static func remove(_ path: String) throws(SystemError) {
        try ActingUser.asSuperuser { () throws(SystemError) in try systemCall { unsafe rmdir(path) } }
    }
}
