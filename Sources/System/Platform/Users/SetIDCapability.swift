// CAP_FSETID, with which writing to a file keeps its set-user-ID and set-group-ID bits.

import CPlatform
import Glibc

public enum SetIDCapability {
    /// `capset(2)`: removes CAP_FSETID from this thread's effective set. The host then clears the bits of a file that
    /// the thread writes to, as it would for an application without the capability.
    public static func drop() {
        if geteuid() == 0 { platform_capability_fsetid(0) }
    }

    /// `capset(2)` before and after: runs `body` with the capability, for a call that sets the bits on purpose.
    @inline(__always)
    public static func raised<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard geteuid() == 0 else { return try body() }
        // capset(2) failed: the thread keeps what it has.
        guard platform_capability_fsetid(1) == 0 else { return try body() }
        defer { platform_capability_fsetid(0) }
        return try body()
    }
}
