// The reply about a device's capacity.

/// The capacity of a device and its use, in bytes.
public struct CapacityReport: Codable, Hashable, Sendable {
    /// The device's own capacity; null where that of the host's filesystem counts.
    public var capacity: Int64?
    /// The size of the filesystem, as statfs(2) reports it.
    public var total: Int64
    /// The space of the device's containers on the host.
    public var used: Int64
    public var free: Int64
    /// The space that applications can have: the free space without the reserve.
    public var available: Int64
    /// The space kept for pages that the kernel has accepted and not written out.
    public var reserve: Int64
    /// The marks, in percent of the capacity.
    public var lowWater: Double
    public var highWater: Double

    public init(
        capacity: Int64?, total: Int64, used: Int64, free: Int64, available: Int64, reserve: Int64, lowWater: Double,
        highWater: Double
    ) {
        self.capacity = capacity
        self.total = total
        self.used = used
        self.free = free
        self.available = available
        self.reserve = reserve
        self.lowWater = lowWater
        self.highWater = highWater
    }

    private enum CodingKeys: CodingKey {
        case capacity, total, used, free, available, reserve, lowWater, highWater
    }

    /// Writes null where the device has no capacity of its own, so that a script finds the key in every answer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(capacity, forKey: .capacity)
        try container.encode(total, forKey: .total)
        try container.encode(used, forKey: .used)
        try container.encode(free, forKey: .free)
        try container.encode(available, forKey: .available)
        try container.encode(reserve, forKey: .reserve)
        try container.encode(lowWater, forKey: .lowWater)
        try container.encode(highWater, forKey: .highWater)
    }
}
