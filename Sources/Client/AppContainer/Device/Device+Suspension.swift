// The background: apps that are suspended and resumed.

extension Device {
    /// Brings an app into the background, and suspends it: its processes are frozen, and one that then holds a lock on
    /// a file in a group container is killed.
    ///
    /// - Parameters:
    ///   - app: the app's identifier.
    ///   - after: the time in the background before, by the device's clock, so that an advance of that passes it;
    ///     background tasks that end earlier shorten it. A task that is cancelled meanwhile brings the app to the
    ///     foreground.
    /// - Throws: an error of kind `notRunning`, `appSuspended` when it is in the background already, `notSuspended`
    ///   when it was resumed meanwhile, or `notFrozen`.
    @discardableResult
    public func suspend(_ app: String, after: Duration = .zero) async throws(DeviceError) -> SuspensionReport {
        try await send(SuspendRequest(app: app, after: after / .seconds(1)))
    }

    /// Brings an app to the foreground, and has its processes go on.
    /// - Throws: an error of kind `notSuspended`.
    public func resume(_ app: String) async throws(DeviceError) {
        _ = try await send(ResumeRequest(app: app))
    }

    /// Looks for the locks for which a process would be killed, if its app were suspended now. The app enters the
    /// background meanwhile and is told so; nothing is frozen or killed.
    ///
    /// - Parameters:
    ///   - app: the app's identifier.
    ///   - process: the number of the process, such as `getpid()` for a test that is the app itself.
    ///   - after: as for ``suspend(_:after:)``.
    /// - Throws: an error of kind `notAllowed` for a process that the device's process may not look into.
    public func rehearseSuspension(
        of app: String, process: Int32, after: Duration = .zero
    ) async throws(DeviceError) -> SuspensionRehearsal {
        try await send(SuspensionRehearsalRequest(app: app, pid: process, after: after / .seconds(1)))
    }
}
