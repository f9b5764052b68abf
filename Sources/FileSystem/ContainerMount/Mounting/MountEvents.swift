// The callbacks by which a mount reports refused calls and lost writes.

import ContainerVolume
import Glibc
import SandboxModel

/// Callbacks of a device's mounts. All are called on the thread of a request.
struct MountEvents: Sendable {
    /// Asked first for each refused call, with the rule and the caller's thread (0 if not visible). No lock is held.
    /// - Returns: the number of earlier calls not reported; nil if this one is not to be reported either.
    let admits: @Sendable (Rule, pid_t) -> Int?
    /// A refused call, before it returns. No lock is held.
    let refused: @Sendable (RefusedCall) -> Void
    /// A range that an application wrote while the device locked, and that was refused. Locks of the volume are held.
    let lost: @Sendable (LostRange) -> Void
    /// A line for the log about a request that failed with EIO because its reply was dropped.
    let dropped: @Sendable (String) -> Void
}
