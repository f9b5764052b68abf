// Unmounts: by umount2(2) for root, otherwise through fusermount3.

import Glibc
import Platform
import SandboxModel

extension Session {
    /// Unmounts the topmost mount at the path. The session ends by itself if that was its last.
    /// - Parameter lazily: MNT_DETACH: out of sight at once, gone when no longer in use.
    /// - Throws: ``MountFailure`` of kind `busy` if the mount is in use, unless `lazily`; `unavailable` without
    ///   fusermount3; `refused` for anything else, such as a path where nothing is mounted.
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
