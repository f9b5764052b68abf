// Waiting at Unix sockets on threads of their own, for callers that block anyway.

import Glibc
public import SandboxModel

extension Descriptor {
    /// `poll(2)` with `POLLIN`.
    /// - Parameter milliseconds: the longest wait; -1 for any.
    /// - Returns: whether a read, or accept(2), would not wait: something has arrived, or the other end has closed.
    public borrowing func waitUntilReadable(within milliseconds: Int32) throws(SystemError) -> Bool {
        var state = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return try systemCall { unsafe poll(&state, 1, milliseconds) } > 0
    }

    /// `shutdown(2)` of a listening socket: nobody connects any more, and ``waitUntilReadable(within:)`` returns at
    /// once.
    public borrowing func stopListening() {
        _ = shutdown(number, Int32(SHUT_RDWR))
    }
}
