// What mounts tell of calls while they answer them.

import ContainerVolume
import Glibc
import SandboxModel

/// Whoever keeps the record of a device, as its mounts know it. All are called on the thread of a request.
struct MountEvents: Sendable {
    /// Asked before anything else is found out about a call that a rule refuses, by a thread of whoever calls (0 for
    /// one that cannot be seen). No lock is held.
    /// - Returns: how many before it were not told; nil when this one is not to be told either.
    let admits: @Sendable (Rule, pid_t) -> Int?
    /// A call that a rule refuses, before it returns. No lock is held.
    let refused: @Sendable (RefusedCall) -> Void
    /// A range that an application wrote while the device locked, once it is known. Locks of the volume are held.
    let lost: @Sendable (LostRange) -> Void
}
