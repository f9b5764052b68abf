// Running apps from code: leases, marks, and their end.

extension DeviceClient {
    /// Makes an app ready to run and marks it running, for as long as the lease is kept.
    ///
    /// ```swift
    /// let lease = try await device.run(RunRequest(app: "com.example.Notes"))
    /// // start a process with lease.app.environment in lease.app.mountPoint, then:
    /// try await lease.announce(process)
    /// // when it has ended:
    /// await lease.end()
    /// ```
    ///
    /// - Parameter progress: told how far the look at the bundle has come, some times a second.
    /// - Throws: an error of kind `sealBroken` when the bundle is not what was installed.
    public func run(
        _ request: RunRequest, progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
    ) async throws(DeviceError) -> RunLease {
        var connection = try await connect()
        let app = try await ask(request, over: &connection, progress: progress)
        return RunLease(app, of: request.app, at: self, connection)
    }

    /// Marks an app running until it is terminated; starts nothing.
    public func markRunning(_ app: String) async throws(DeviceError) {
        _ = try await send(MarkRunningRequest(app: app))
    }

    /// Ends all that runs of an app.
    /// - Throws: an error of kind `notRunning` when nothing does.
    public func terminate(_ app: String) async throws(DeviceError) {
        _ = try await send(TerminateRequest(app: app))
    }
}

/// What an app is marked running by. The mark ends with ``end()``, and with the last reference to the lease at the
/// latest, unless it was asked for as detached and a process was announced: then it ends with the process.
public final class RunLease: Sendable {
    /// Where and how to run the app.
    public let app: RunnableApp
    private let identifier: String
    private let device: DeviceClient
    /// The mark lasts as long as this is open.
    private let connection: ControlConnection

    init(_ app: RunnableApp, of identifier: String, at device: DeviceClient, _ connection: consuming ControlConnection)
    {
        self.app = app
        self.identifier = identifier
        self.device = device
        self.connection = connection
    }

    /// Tells the device which process runs the app, before it does anything.
    /// - Throws: an error of kind `notRunning` when the app was terminated meanwhile: the process is not to go on.
    public func announce(_ process: Int32) async throws(DeviceError) {
        _ = try await device.send(RunProcessRequest(lease: app.lease, pid: process))
    }

    /// Ends the mark, and waits until a mount that was made for it is gone, if nobody else uses it. A daemon that has
    /// ended meanwhile needs to hear nothing.
    public func end() async {
        _ = try? await device.send(RunEndRequest(app: identifier, lease: app.lease))
    }
}
