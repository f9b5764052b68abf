// Unmounts: by umount2(2) for root, otherwise through fusermount3.

import Glibc
public import Platform
import SandboxModel

extension Session {
    /// Unmounts the topmost mount at a place. The session ends by itself if that was its last.
    ///
    /// A mount may be in use for a moment by what nobody has open any more: a process that another one starts has the
    /// descriptors of that one until it runs its program. So one that is in use is tried again, for a second.
    ///
    /// - Parameter lazily: MNT_DETACH: out of sight at once, gone when no longer in use.
    /// - Throws: ``MountFailure`` of kind `busy` if the mount stays in use, unless `lazily`; `unavailable` without
    ///   fusermount3; `refused` for anything else, such as a place where nothing is mounted.
    public static func unmount(_ place: MountPlace, lazily: Bool) throws(MountFailure) {
        try unmount(place.current, called: place.path, lazily: lazily)
    }

    /// As ``unmount(_:lazily:)``, for a path that no other user can change.
    public static func unmount(_ path: String, lazily: Bool) throws(MountFailure) {
        try unmount(path, called: path, lazily: lazily)
    }

    /// - Parameter current: the path by which root reaches the place. fusermount3 is given the user's own, `name`.
    private static func unmount(_ current: String, called name: String, lazily: Bool) throws(MountFailure) {
        let isPrivileged = ActingUser.isPrivileged
        let deadline = ContinuousClock.now + busyPatience
        var pause: UInt32 = 5000
        while true {
            do throws(MountFailure) {
                return isPrivileged
                    ? try unmountDirectly(current, called: name, lazily: lazily)
                    : try MountHelper.unmount(name, lazily: lazily)
            } catch {
                guard error.kind == .busy, ContinuousClock.now < deadline else { throw error }
            }
            usleep(pause)
            pause = min(pause * 2, 100_000)
        }
    }

    /// The longest time for which a mount in use is tried again.
    private static let busyPatience = Duration.seconds(1)

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
