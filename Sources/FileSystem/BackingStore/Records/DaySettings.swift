// The days of a device: its clock, its surroundings, and the work that it does by itself.

/// The settings and the state of a device's days. A part of Device.json. nil stands for the usual value.
public struct DaySettings: Codable, Equatable, Sendable {
    /// The moves of the device's clock; nil while it is the host's.
    public var clock: ClockHistory?
    /// Whether the device is connected to power; nil for yes.
    public var power: Bool?
    /// Whether the device has Wi-Fi; nil for yes.
    public var wifi: Bool?
    /// The directory of the host that gets a backup each day; nil for no backups.
    public var backupDirectory: String?
    /// When the last of these backups was due, or when they were asked for, in nanoseconds since 1970 by the device's
    /// clock.
    public var lastBackup: Int64?
    /// When the `tmp` directories are looked through next, by the same clock; nil where nobody has looked yet.
    public var nextCleaning: Int64?

    public init() {}

    /// Permitted values of ``lastBackup`` and ``nextCleaning``: a few hundred years, to which a day can be added.
    public static let times = Int64(0)...8_000_000_000_000_000_000

    var isPossible: Bool {
        clock?.isPossible ?? true && backupDirectory?.first ?? "/" == "/"
            && [lastBackup, nextCleaning].allSatisfy { $0.map(DaySettings.times.contains) ?? true }
    }

    /// Those of a clone: what the device does by itself is not the clone's.
    var ofClone: DaySettings {
        var day = self
        day.backupDirectory = nil
        day.lastBackup = nil
        return day
    }
}
