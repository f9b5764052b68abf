// Space, backups, and what has happened.

extension Device {
    /// What has happened on the device, the oldest first, as far as the record goes back, and then each event as it
    /// comes.
    public var events: DeviceEvents { client.events }

    /// The same without what was before a time.
    /// - Parameter time: as ``Event/time`` has it.
    public func events(since time: String) -> DeviceEvents { client.events(since: time) }

    /// What has happened on the device so far, the oldest first, as far as the record goes back.
    public func recordedEvents() async throws(DeviceError) -> [Event] {
        try await send(EventsRequest())
    }

    /// Gives the device another capacity, or other marks; what is nil stays as it is.
    @discardableResult
    public func capacity(_ request: CapacityRequest = CapacityRequest()) async throws(DeviceError) -> CapacityReport {
        try await send(request)
    }

    /// Removes purgeable entries of apps that do not run, least recently used first.
    @discardableResult
    public func purge(
        _ request: PurgeRequest = PurgeRequest(), progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(DeviceError) -> PurgeReport {
        try await send(request, progress: progress)
    }

    /// Writes a backup.
    /// - Parameter output: a path of the host where nothing is yet.
    @discardableResult
    public func backup(
        to output: String, format: BackupRequest.Format = .tar, app: String? = nil, password: String? = nil,
        ignoreExclusions: Bool = false, since earlier: String? = nil,
        progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(DeviceError) -> BackupReport {
        var since: String?
        if let earlier { since = try Device.absolute(earlier) }
        return try await send(
            BackupRequest(
                output: try Device.absolute(output), format: format, app: app, password: password,
                ignoreExclusions: ignoreExclusions, since: since), progress: progress)
    }

    /// What a backup would have, and what it would leave out and why.
    public func backupList(app: String? = nil, ignoreExclusions: Bool = false) async throws(DeviceError) -> [BackupItem]
    {
        try await send(BackupListRequest(app: app, ignoreExclusions: ignoreExclusions))
    }

    /// Brings a backup back. An app that is not installed waits for its installation, which adopts the data.
    @discardableResult
    public func restore(
        from input: String, password: String? = nil, domain: String? = nil,
        progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(DeviceError) -> RestoreReport {
        try await send(
            RestoreRequest(input: try Device.absolute(input), password: password, domain: domain), progress: progress)
    }

    /// Checks an app's container against Apple's data storage guidelines.
    public func audit(_ app: String, patterns: String? = nil) async throws(DeviceError) -> AuditReport {
        try await send(AuditRequest(app: app, patterns: patterns))
    }

    /// Looks at every header, block and length of the device.
    /// - Parameter repair: clear away what a crash left over. Content is never touched.
    public func check(repair: Bool = false) async throws(DeviceError) -> CheckReport {
        try await send(CheckRequest(repair: repair))
    }
}
