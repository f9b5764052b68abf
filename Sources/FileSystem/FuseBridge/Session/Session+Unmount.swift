// Unmounts: by umount2(2) for root, otherwise through fusermount3.

import Glibc
public import Platform
import SandboxModel

extension Session {
    /// Unmounts the topmost mount at a place. The session ends by itself if that was its last.
    /// - Parameter lazily: MNT_DETACH: out of sight at once, gone when no longer in use.
    /// - Throws: ``MountFailure`` of kind `busy` if the mount is in use, unless `lazily`; `unavailable` without
    ///   fusermount3; `refused` for anything else, such as a place where nothing is mounted.
    public static func unmount(_ place: MountPlace, lazily: Bool) throws(MountFailure) {
        guard ActingUser.isPrivileged else { return try MountHelper.unmount(place.path, lazily: lazily) }
        try unmountDirectly(place.current, called: place.path, lazily: lazily)
    }

    /// As ``unmount(_:lazily:)``, for a path that no other user can change.
    public static func unmount(_ path: String, lazily: Bool) throws(MountFailure) {
        guard ActingUser.isPrivileged else { return try MountHelper.unmount(path, lazily: lazily) }
        try unmountDirectly(path, called: path, lazily: lazily)
    }

    private static func unmountDirectly(_ path: String, called name: String, lazily: Bool) throws(MountFailure) {
        do throws(SystemError) {
            try HostMount.unmount(path, lazily ? .lazily : .whenIdle)
        } catch {
            throw error == .busy
                ? inUse(name) : MountFailure(.refused, "\(name) cannot be unmounted: \(error.message)")
        }
    }

    static func inUse(_ path: String) -> MountFailure {
        MountFailure(.busy, "\(path) is in use: close what is open there, or unmount with --lazy")
    }
}
