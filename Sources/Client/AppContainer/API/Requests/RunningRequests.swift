// Requests about running apps: leases, marks, and their end.

/// Prepares an app to run and marks it running: verifies the seal of its bundle, and mounts it where it is not mounted.
///
/// The response comes in lines only (``ControlMedia/lines``) and stays open after its result, which has the number of a
/// lease. The app is marked running until the client disconnects, or ends the lease by a ``RunEndRequest``. The client
/// starts the process, and announces it by a ``RunProcessRequest``: from then on the lease ends with the process as
/// well. ``DeviceClient/run(_:progress:)`` does all that.
public struct RunRequest: ControlRequest {
    public typealias Reply = RunnableApp
    public static let path = "run"

    public var app: String
    /// The name of one of the app's extensions, which is run in its place; null for the app.
    public var `extension`: String?
    /// Whether the whole bundle is verified, rather than files that seem to have changed. False when null.
    public var verifyAll: Bool?
    /// Whether the app outlives its client, as after `launch`: once its process is announced, the lease ends with the
    /// process and not with the connection. False when null.
    public var detached: Bool?

    public init(app: String, extension: String? = nil, verifyAll: Bool = false, detached: Bool = false) {
        self.app = app
        self.extension = `extension`
        self.verifyAll = verifyAll
        self.detached = detached
    }

    public func check() throws(DeviceError) { try requireIdentifier(app) }
}

/// Announces the process of a lease, which `terminate` and `restart` will end. It is sent before the process does
/// anything, and before wait(2), after which its number may belong to another process.
///
/// Fails with `notRunning` when the lease has ended meanwhile, and with `appSuspended` when the app was brought into
/// the background: the client must not let the process go on.
public struct RunProcessRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "run-process"

    /// As ``RunnableApp/lease``.
    public var lease: UInt64
    /// The number of a process, as the daemon sees it.
    public var pid: Int32
    /// An ancestor of the process that is a subreaper (prctl(2)), and ends when it has no child left. Everything below
    /// it is ended with the app, whatever has started it. It gets the signal 45, at which it may end all at once. If it
    /// blocks, catches or ignores 46 and 47, it gets 46 before everything below it is frozen, and 47 when that goes on;
    /// if the sender of 46 ends before, nobody else will have it go on.
    public var supervisor: Int32?

    public init(lease: UInt64, pid: Int32, supervisor: Int32? = nil) {
        self.lease = lease
        self.pid = pid
        self.supervisor = supervisor
    }

    public func check() throws(DeviceError) {
        try requireProcess(pid, "pid")
        if let supervisor { try requireProcess(supervisor, "supervisor") }
    }
}

/// Ends a lease, if it has not ended. The response comes after the end of a mount that was made for it, unless another
/// lease holds the mount or a file in it is in use.
public struct RunEndRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "run-end"

    public var app: String
    /// As ``RunnableApp/lease``.
    public var lease: UInt64

    public init(app: String, lease: UInt64) {
        self.app = app
        self.lease = lease
    }

    public func check() throws(DeviceError) { try requireIdentifier(app) }
}

/// Marks an app running until it is terminated, or the device is restarted or shut down. Starts and mounts nothing; a
/// second mark has no effect.
public struct MarkRunningRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "mark-running"

    public var app: String
    /// The name of one of the app's extensions, which is marked in its place; null for the app.
    public var `extension`: String?

    public init(app: String, extension: String? = nil) {
        self.app = app
        self.extension = `extension`
    }

    public func check() throws(DeviceError) { try requireIdentifier(app) }
}

/// Ends the processes and marks of an app. The response comes when it runs no more.
///
/// Processes get SIGTERM, and SIGKILL after five seconds; those of a suspended app SIGKILL at once. Fails with
/// `notRunning` when the app does not run.
public struct TerminateRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "terminate"
    public static let isRepeatable = false

    public var app: String
    /// Whether processes are killed at once, as a phone does where memory is short. False when null.
    public var memory: Bool?

    public init(app: String, memory: Bool = false) {
        self.app = app
        self.memory = memory
    }

    public func check() throws(DeviceError) { try requireIdentifier(app) }
}
