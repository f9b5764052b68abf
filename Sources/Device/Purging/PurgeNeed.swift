// The need of a purge: the space that is available against the marks of a device.

import BackingStore

/// Available space and marks at one moment, in bytes: when the device purges by itself, and how far.
struct PurgeNeed {
    let available: Int64
    /// Below this the device purges by itself.
    let lowWater: Int64
    /// Up to this it purges then.
    let highWater: Int64

    /// Whether the device is to purge, though nobody waits.
    var isLow: Bool { available < lowWater }

    /// The bytes that are to be available after a purge for writers. Never less than the high-water mark, so that the
    /// next writer does not wait again at once.
    /// - Parameter wanted: the most that one of them waits for.
    func target(forWriters wanted: Int64) -> Int64 { max(wanted, highWater) }
}

extension PurgeNeed {
    init(of space: SpaceLedger) {
        self.init(available: space.figures.available, lowWater: space.lowWater, highWater: space.highWater)
    }
}
