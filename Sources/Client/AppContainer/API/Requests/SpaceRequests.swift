// Requests about space: the device's capacity, and purging.

/// Changes a device's capacity or marks; a null value stays as it is. With no value it only asks.
public struct CapacityRequest: ControlRequest {
    public typealias Reply = CapacityReport
    public static let path = "capacity"

    /// Bytes that the device holds.
    public var capacity: Int64?
    /// Whether the device holds what the host's filesystem does. False when null.
    public var hostCapacity: Bool?
    /// The low-water mark, in percent of the capacity: with less available, a purge begins.
    public var lowWater: Double?
    /// The high-water mark, in percent of the capacity: with as much available, a purge ends.
    public var highWater: Double?

    public init(
        capacity: Int64? = nil, hostCapacity: Bool = false, lowWater: Double? = nil, highWater: Double? = nil
    ) {
        self.capacity = capacity
        self.hostCapacity = hostCapacity
        self.lowWater = lowWater
        self.highWater = highWater
    }

    /// The least and the most bytes that a device can hold.
    private static let capacities = Int64(1 << 20)...Int64(1 << 60)

    public func check() throws(DeviceError) {
        guard capacity == nil || hostCapacity != true else {
            throw DeviceError(.badRequest, "capacity: \"capacity\" and \"hostCapacity\" exclude each other")
        }
        if let capacity, !CapacityRequest.capacities.contains(capacity) {
            throw DeviceError(
                .badRequest, "a capacity is from 1M to 1E; give one of these, or none for that of the host")
        }
        for (mark, name) in [(lowWater, "lowWater"), (highWater, "highWater")] {
            guard let mark, !(0...100).contains(mark) else { continue }
            throw DeviceError(.badRequest, "capacity: \"\(name)\" is not a percentage from 0 to 100")
        }
    }
}

/// Purges whole entries of `Library/Caches` and `tmp`, of the apps that are not running.
///
/// At most one of `free`, `level` and `olderThan` is given; none means the level `warning`.
public struct PurgeRequest: ControlRequest {
    public typealias Reply = PurgeReport
    public static let path = "purge"

    public enum Level: String, Codable, CaseIterable, Sendable {
        /// Until as much is available as the high-water mark says.
        case warning
        /// All that is purgeable.
        case critical
    }

    /// The only app to purge; all when null.
    public var app: String?
    /// Bytes that are to be available.
    public var free: Int64?
    public var level: Level?
    /// Seconds: all that has not been used for so long is purged, however much is available.
    public var olderThan: Int64?
    /// Whether the purge only reports what would go. False when null.
    public var dryRun: Bool?

    public init(
        app: String? = nil, free: Int64? = nil, level: Level? = nil, olderThan: Int64? = nil, dryRun: Bool = false
    ) {
        self.app = app
        self.free = free
        self.level = level
        self.olderThan = olderThan
        self.dryRun = dryRun
    }

    /// The longest `olderThan`, in seconds: longer than any clock of 64-bit nanoseconds has run.
    private static let longest: Int64 = 4_000_000_000

    public func check() throws(DeviceError) {
        if let app { try requireIdentifier(app) }
        guard [free != nil, level != nil, olderThan != nil].filter({ $0 }).count <= 1 else {
            throw DeviceError(.badRequest, "purge: \"free\", \"level\" and \"olderThan\" exclude each other")
        }
        guard free ?? 0 >= 0 else { throw DeviceError(.badRequest, "purge: \"free\" is less than nothing") }
        guard (0...PurgeRequest.longest).contains(olderThan ?? 0) else {
            throw DeviceError(.badRequest, "purge: \"olderThan\" is not one of 0 to \(PurgeRequest.longest) seconds")
        }
    }
}
