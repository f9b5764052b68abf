// The days of a device: its clock, its surroundings, and the backups that it makes by itself.

extension Device {
    /// The device's clock.
    public func clock() async throws(DeviceError) -> ClockReport { try await send(ClockRequest()) }

    /// Advances the device's clock. The work that comes due meanwhile is done when it returns: a pending lock,
    /// scheduled backups, and the removal of items of `tmp` that were not used for three days.
    /// - Parameter seconds: up to a hundred years.
    /// - Throws: the error of a backup that failed; the clock is advanced all the same.
    @discardableResult
    public func advanceClock(by seconds: Int64) async throws(DeviceError) -> ClockReport {
        try await send(ClockRequest(advance: seconds))
    }

    /// Sets the device's clock to the host's time again.
    @discardableResult
    public func useRealClock() async throws(DeviceError) -> ClockReport { try await send(ClockRequest(real: true)) }

    /// Changes the device's surroundings; a nil value stays as it is.
    @discardableResult
    public func conditions(power: Bool? = nil, wifi: Bool? = nil) async throws(DeviceError) -> Conditions {
        try await send(ConditionsRequest(power: power, wifi: wifi))
    }

    /// Has the device back itself up each day, while it is locked, on power and on Wi-Fi.
    /// - Parameter directory: gets the backups; nil for no more backups. Relative paths are those of this process.
    @discardableResult
    public func scheduleBackups(to directory: String?) async throws(DeviceError) -> BackupSchedule {
        guard let directory else { return try await send(ScheduleRequest(ends: true)) }
        return try await send(ScheduleRequest(backup: try Device.absolute(directory)))
    }

    /// The backups that the device makes by itself.
    public func backupSchedule() async throws(DeviceError) -> BackupSchedule { try await send(ScheduleRequest()) }
}
