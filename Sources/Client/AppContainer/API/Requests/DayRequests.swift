// Requests about a device's days: its clock, its surroundings, and the backups that it makes by itself.

/// Advances the device's clock, or sets it to the host's time again; without a value it only asks.
///
/// The work that comes due meanwhile is done in its order: a pending lock, scheduled backups, and the removal of old
/// items of `tmp`. Files and processes have the host's time.
public struct ClockRequest: ControlRequest {
    public typealias Reply = ClockReport
    public static let path = "clock"
    public static let isRepeatable = false

    /// Seconds by which the clock is advanced.
    public var advance: Int64?
    /// Whether the clock is set to the host's time. False when null.
    public var real: Bool?

    public init(advance: Int64? = nil, real: Bool = false) {
        self.advance = advance
        self.real = real
    }

    /// The longest advance in seconds, some hundred years.
    private static let longest: Int64 = 100 * 366 * 86_400

    public func check() throws(DeviceError) {
        guard advance == nil || real != true else {
            throw DeviceError(.badRequest, "clock: \"advance\" and \"real\" exclude each other")
        }
        guard (0...ClockRequest.longest).contains(advance ?? 0) else {
            throw DeviceError(.badRequest, "clock: \"advance\" is not one of 0 to \(ClockRequest.longest) seconds")
        }
    }
}

/// Changes the device's surroundings; a null value stays as it is.
public struct ConditionsRequest: ControlRequest {
    public typealias Reply = Conditions
    public static let path = "conditions"

    /// Whether the device is connected to power.
    public var power: Bool?
    /// Whether the device has Wi-Fi.
    public var wifi: Bool?

    public init(power: Bool? = nil, wifi: Bool? = nil) {
        self.power = power
        self.wifi = wifi
    }

    public func check() {}
}

/// Has the device back itself up each day, or not any more; without a value it only asks.
public struct ScheduleRequest: ControlRequest {
    public typealias Reply = BackupSchedule
    public static let path = "schedule"

    /// The absolute path of a directory that gets the backups.
    public var backup: String?
    /// Whether the backups end. False when null.
    public var ends: Bool?

    public init(backup: String? = nil, ends: Bool = false) {
        self.backup = backup
        self.ends = ends
    }

    public func check() throws(DeviceError) {
        guard backup == nil || ends != true else {
            throw DeviceError(.badRequest, "schedule: \"backup\" and \"ends\" exclude each other")
        }
        if let backup { try requireAbsolute(backup, "backup") }
    }
}
