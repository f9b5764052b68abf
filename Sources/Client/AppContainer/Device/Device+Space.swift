// Events, space, backups, audits and checks of a device.

extension Device {
    /// The recorded events of the device, the oldest first, and then each event as it comes.
    public var events: DeviceEvents { client.events }

    /// The events since a time.
    /// - Parameter time: as ``Event/time`` has it.
    public func events(since time: String) -> DeviceEvents { client.events(since: time) }

    /// The recorded events of the device, the oldest first.
    public func recordedEvents() async throws(DeviceError) -> [Event] {
        try await send(EventsRequest())
    }

    /// Changes the device's capacity or marks; a nil value stays as it is.
    @discardableResult
    public func capacity(_ request: CapacityRequest = CapacityRequest()) async throws(DeviceError) -> CapacityReport {
        try await send(request)
    }

    /// Purges the apps that do not run, the least recently used entries first.
    @discardableResult
    public func purge(
        _ request: PurgeRequest = PurgeRequest(), progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(DeviceError) -> PurgeReport {
        try await send(request, progress: progress)
    }

    /// Writes a backup.
    /// - Parameters:
    ///   - output: a path of the host where nothing is yet. Relative paths are those of this process.
    ///   - format: a tar archive, or a backup as Finder makes it.
    ///   - app: the identifier of the one app that is backed up; nil for all.
    ///   - password: the password of an encrypted Finder backup; nil for none.
    ///   - ignoreExclusions: back up what bears the mark of an exclusion, too.
    ///   - earlier: the path of an earlier backup of the device, from which this one takes what has not changed.
    ///   - progress: called with the progress, up to ten times a second.
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

    /// The files of a backup, and those that it would leave out and why.
    public func backupList(app: String? = nil, ignoreExclusions: Bool = false) async throws(DeviceError) -> [BackupItem]
    {
        try await send(BackupListRequest(app: app, ignoreExclusions: ignoreExclusions))
    }

    /// The paths of each app's home that a phone's backup leaves out.
    /// - Parameter app: one app or app extension; all when nil.
    /// - Throws: an error of kind `unknownApp`, or `inUse` where a container is removed, reset or restored meanwhile.
    public func backupExcluded(app: String? = nil) async throws(DeviceError) -> [ExcludedHome] {
        try await send(BackupExcludedRequest(app: app))
    }

    /// Restores a backup. The data of an app that is not installed waits for its installation.
    @discardableResult
    public func restore(
        from input: String, password: String? = nil, domain: String? = nil,
        progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(DeviceError) -> RestoreReport {
        try await send(
            RestoreRequest(input: try Device.absolute(input), password: password, domain: domain), progress: progress)
    }

    /// Audits an app's containers against Apple's data storage guidelines.
    public func audit(_ app: String, patterns: String? = nil) async throws(DeviceError) -> AuditReport {
        try await send(AuditRequest(app: app, patterns: patterns))
    }

    /// Checks every header, block and length of the device.
    /// - Parameter repair: remove what a crash left over. Content is never touched.
    public func check(repair: Bool = false) async throws(DeviceError) -> CheckReport {
        try await send(CheckRequest(repair: repair))
    }
}
