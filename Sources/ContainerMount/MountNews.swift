// What mounts tell of calls while they answer them.

import ContainerVolume

/// Whoever keeps the record of a device, as its mounts know it. Both are called on the thread of a request.
struct MountNews: Sendable {
    /// A call that a rule refuses, before it returns. No lock is held.
    let refused: @Sendable (RefusedCall) -> Void
    /// A range that an application wrote while the device locked, once it is known. Locks of the volume are held.
    let lost: @Sendable (LostRange) -> Void
}
