// Taking a mount away: by umount2(2) where the process may, else through fusermount3.

import Glibc
import Platform
import SandboxModel

extension Session {
    /// Takes the topmost mount at the path away. The session ends by itself when that was its last.
    /// - Parameter lazily: out of sight at once, gone when nobody uses it any more.
    /// - Throws: `busy` while somebody uses it, unless `lazily`.
    public static func unmount(_ path: String, lazily: Bool) throws(MountFailure) {
        if geteuid() == 0 {
            do throws(SystemError) {
                try HostMount.unmount(path, lazily ? .lazily : .whenIdle)
            } catch {
                throw error == .busy
                    ? inUse(path) : MountFailure(.refused, "\(path) cannot be unmounted: \(error.message)")
            }
        } else {
            try MountHelper.unmount(path, lazily: lazily)
        }
    }

    static func inUse(_ path: String) -> MountFailure {
        MountFailure(.busy, "\(path) is in use: close what is open there, or unmount with --lazy")
    }
}
