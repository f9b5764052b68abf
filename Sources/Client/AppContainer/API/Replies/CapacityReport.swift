// How much a device holds: asked for, and changed.

/// What a device holds, in bytes.
public struct CapacityReport: Codable, Hashable, Sendable {
    /// The device's own; null where it holds what the host's filesystem does.
    public var capacity: Int64?
    /// What statfs(2) gives as the size of the filesystem.
    public var total: Int64
    /// Blocks that the device's containers take on the host.
    public var used: Int64
    public var free: Int64
    /// What an application can have: what is free without the reserve.
    public var available: Int64
    /// What is kept back of a capacity for pages that the kernel has not written out yet.
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
