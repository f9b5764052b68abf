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
            try unmountThroughHelper(path, lazily: lazily)
        }
    }

    private static func inUse(_ path: String) -> MountFailure {
        MountFailure(.busy, "\(path) is in use: close what is open there, or unmount with --lazy")
    }

    private static func unmountThroughHelper(_ path: String, lazily: Bool) throws(MountFailure) {
        guard let helper = Preconditions.helper() else {
            throw MountFailure(.unavailable, "fusermount3 is missing: install the package fuse3")
        }
        let words = [helper, "-u", "-q"] + (lazily ? ["-z"] : []) + ["--", path]
        // Copies that live until the child has ended, with the NULL that ends an argument vector.
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
        unsafe arguments.append(nil)
        defer { for unsafe argument in unsafe arguments { unsafe free(argument) } }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for stream: Int32 in 0...2 {
            unsafe posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
        }
        var child: pid_t = 0
        let code = unsafe posix_spawn(&child, helper, &actions, nil, arguments, environ)
        guard code == 0 else { throw MountFailure.system("\(helper) cannot be started", code) }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) == -1, errno == EINTR {}
        // With -q it says nothing; that the mount is not this user's was found out before.
        guard status == 0 else { throw inUse(path) }
    }
}
