// How much a device holds: asked for, and changed.

/// Gives a device another capacity, or other marks; what is null stays as it is. Without any it is a question.
public struct CapacityRequest: ControlRequest {
    public typealias Reply = CapacityReport
    public static let path = "capacity"
    /// Bytes that the device holds.
    public var capacity: Int64?
    /// Whether the device is to hold what the host's filesystem does. False when null.
    public var hostCapacity: Bool?
    /// Less available than this, in percent of the capacity, and what may be purged is purged.
    public var lowWater: Double?
    /// So much is then made available, in percent of the capacity.
    public var highWater: Double?

    public init(
        capacity: Int64? = nil, hostCapacity: Bool = false, lowWater: Double? = nil, highWater: Double? = nil
    ) {
        self.capacity = capacity
        self.hostCapacity = hostCapacity
        self.lowWater = lowWater
        self.highWater = highWater
    }
}

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
