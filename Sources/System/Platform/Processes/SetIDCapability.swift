// The capability that lets a superuser's process keep the set-user-ID and set-group-ID bits where others lose them.

import CPlatform
import Glibc

public enum SetIDCapability {
    /// Gives CAP_FSETID up on this thread: the host then clears the bits of a file that the thread writes to, as it
    /// would for an application without the capability. Nothing happens in a process that does not have it.
    public static func drop() {
        if geteuid() == 0 { platform_capability_fsetid(0) }
    }

    /// Takes it back for a call that sets the bits on purpose.
    @inline(__always)
    public static func raised<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard geteuid() == 0 else { return try body() }
        // A thread that has it goes on having it.
        guard platform_capability_fsetid(1) == 0 else { return try body() }
        defer { platform_capability_fsetid(0) }
        return try body()
    }
}
