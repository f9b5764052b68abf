// The user and the process at the other end of a Unix socket.

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

    /// The same for the number of the process; 0 for one that is in a PID namespace out of sight.
    public static func process(of socket: Int32) throws(SystemError) -> Int32 {
        var process: Int32 = 0
        try systemCall { unsafe platform_peer_process(socket, &process) }
        return process
    }
}
