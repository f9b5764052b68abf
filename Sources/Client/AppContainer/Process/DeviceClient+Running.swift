// Running apps: leases, marks, and their end.

extension DeviceClient {
    /// Prepares an app to run and marks it running, for as long as the lease is kept.
    ///
    /// ```swift
    /// let lease = try await device.run(RunRequest(app: "com.example.Notes"))
    /// // start a process with lease.app.environment in lease.app.mountPoint, then:
    /// try await lease.announce(process)
    /// // when it has ended:
    /// await lease.end()
    /// ```
    ///
    /// - Parameters:
    ///   - request: the app, and whether the whole bundle is read.
    ///   - progress: called with the progress of the verification, up to ten times a second.
    /// - Throws: an error of kind `sealBroken` when the bundle was changed.
    public func run(
        _ request: RunRequest, progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
    ) async throws(DeviceError) -> RunLease {
        var connection = try await connect()
        let app = try await ask(request, over: &connection, progress: progress)
        return RunLease(app, at: self, connection)
    }

    /// Marks an app running until it is terminated. Starts nothing.
    public func markRunning(_ app: String) async throws(DeviceError) {
        _ = try await send(MarkRunningRequest(app: app))
    }

    /// Ends the processes and marks of an app and its extensions, or of one extension.
    /// - Throws: an error of kind `notRunning`.
    public func terminate(_ app: String) async throws(DeviceError) {
        _ = try await send(TerminateRequest(app: app))
    }
}

/// The right to count an app as running. It ends with ``end()``, and with the last reference to the lease at the
/// latest. A detached lease with a process ends with that process instead.
public final class RunLease: Sendable {
    /// Where and how to run the app.
    public let app: RunnableApp
    private let device: DeviceClient
    /// The lease lasts as long as this is open.
    private let connection: ControlConnection

    init(_ app: RunnableApp, at device: DeviceClient, _ connection: consuming ControlConnection) {
        self.app = app
        self.device = device
        self.connection = connection
    }

    /// Announces the process that runs the app, before it does anything.
    /// - Throws: an error of kind `notRunning` when the app was terminated meanwhile: the process must not go on.
    ///
    /// - Parameters:
    ///   - process: its number.
    ///   - supervisor: an ancestor of it that becomes the parent of each descendant which loses its own, and ends with
    ///     the last of them: with it `terminate` misses none. See ``RunProcessRequest/supervisor``.
    public func announce(_ process: Int32, supervisor: Int32? = nil) async throws(DeviceError) {
        _ = try await device.send(RunProcessRequest(lease: app.lease, pid: process, supervisor: supervisor))
    }

    /// Ends the lease, and waits for the end of a mount that was made for it, unless something else uses that. A daemon
    /// that has ended is no error.
    public func end() async {
        _ = try? await device.send(RunEndRequest(app: app.identifier, lease: app.lease))
    }
}
