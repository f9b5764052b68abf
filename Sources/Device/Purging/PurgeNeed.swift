// When the device purges by itself, and how far: the marks of a device against the space that is available.

import BackingStore

/// The space of a device at one moment, in bytes.
struct PurgeLevels {
    let available: Int64
    /// Below this the device purges by itself.
    let lowWater: Int64
    /// Up to this it purges then.
    let highWater: Int64

    /// Whether the device is to purge, though nobody waits.
    var isLow: Bool { available < lowWater }

    /// The bytes that are to be available after a purge for writers, who get no less than the high-water mark: the next
    /// writer is not to wait again at once.
    /// - Parameter wanted: the most that one of them waits for.
    func target(forWriters wanted: Int64) -> Int64 { max(wanted, highWater) }
}

extension PurgeLevels {
    init(of space: SpaceLedger) {
        self.init(available: space.figures.available, lowWater: space.lowWater, highWater: space.highWater)
    }
}
