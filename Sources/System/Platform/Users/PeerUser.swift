// The user at the other end of a Unix socket.

import CPlatform
import Glibc
public import SandboxModel

public enum PeerUser {
    /// `getsockopt(2)` with `SO_PEERCRED`: the effective user ID that the other process had at connect(2). A later
    /// setuid(2) there does not change it.
    /// - Parameter socket: a connected Unix socket.
    public static func identifier(of socket: Int32) throws(SystemError) -> UInt32 {
        var user: UInt32 = 0
        try systemCall { unsafe platform_peer_user(socket, &user) }
        return user
    }

    /// The same call: the process that listens, or has connected. nil for one that cannot be seen from this process.
    static func process(of socket: Int32) -> pid_t? {
        let process = platform_peer_process(socket)
        return process > 0 ? process : nil
    }
}
