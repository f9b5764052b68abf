// The replies about a device's days. Times are ISO 8601, in UTC, with milliseconds.

/// The clock of a device.
public struct ClockReport: Codable, Hashable, Sendable {
    /// The device's time.
    public var time: String
    /// Seconds by which it is ahead of the host's time.
    public var ahead: Double
    /// The events of the work that came due during an advance, in their order.
    public var happened: [Event]

    public init(time: String, ahead: Double, happened: [Event]) {
        self.time = time
        self.ahead = ahead
        self.happened = happened
    }
}

/// The surroundings of a device.
public struct Conditions: Codable, Hashable, Sendable {
    /// Whether it is connected to power.
    public var power: Bool
    /// Whether it has Wi-Fi.
    public var wifi: Bool

    public init(power: Bool, wifi: Bool) {
        self.power = power
        self.wifi = wifi
    }
}

/// The backups that a device makes by itself.
public struct BackupSchedule: Codable, Hashable, Sendable {
    /// The directory that gets them; null where there are none.
    public var backup: String?
    /// When the next one is due; null where there are none.
    public var next: String?
    /// The conditions that a backup waits for now: `locked`, `firstUnlock`, `power`, `wifi`.
    public var missing: [String]

    public init(backup: String?, next: String?, missing: [String]) {
        self.backup = backup
        self.next = next
        self.missing = missing
    }

    private enum CodingKeys: CodingKey {
        case backup, next, missing
    }

    /// Writes null where there is nothing, so that a script finds the keys in every answer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(backup, forKey: .backup)
        try container.encode(next, forKey: .next)
        try container.encode(missing, forKey: .missing)
    }
}
