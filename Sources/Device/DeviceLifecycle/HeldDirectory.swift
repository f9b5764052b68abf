// A device directory with the proof that this process holds it.

import BackingStore

/// The directory of a device, and the lock under which its records may be changed.
struct HeldDirectory: Sendable {
    let directory: DeviceDirectory
    let lock: DeviceLock
}
