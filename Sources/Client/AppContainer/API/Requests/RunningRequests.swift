// The part of the control API by which apps run: leases, marks, and their end.

/// Makes an app ready to run and marks it running: looks whether its bundle still is what was installed, and mounts it
/// where it is not mounted.
///
/// The answer comes in lines only (``ControlMedia/lines``) and stays open after its result, which names a lease. The app
/// is marked running until whoever asked goes away, or ends the lease by a ``RunEndRequest``. What runs is started by
/// whoever asked, and announced by a ``RunProcessRequest``: from then on the lease ends with the process as well.
/// ``DeviceClient/run(_:progress:)`` does all that.
public struct RunRequest: ControlRequest {
    public typealias Reply = RunnableApp
    public static let path = "run"

    public var app: String
    /// Read the whole bundle, instead of what looks as if it had been written to. False when null.
    public var verifyAll: Bool?
    /// Whether the app is to go on by itself, as `launch` starts it: once its process is announced, the lease ends with
    /// that and not with the connection. False when null.
    public var detached: Bool?

    public init(app: String, verifyAll: Bool = false, detached: Bool = false) {
        self.app = app
        self.verifyAll = verifyAll
        self.detached = detached
    }

    public func check() {}
}

/// Names the process that a lease is for, which `terminate` and `restart` are to end. Send it before that process can
/// do anything, and while its number cannot be another's: before it is waited for.
///
/// Fails with `notRunning` when the lease has ended meanwhile: what was to run is not to run.
public struct RunProcessRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "run-process"

    /// As ``RunnableApp/lease``.
    public var lease: UInt64
    /// The number of a process, as the daemon sees it.
    public var pid: Int32

    public init(lease: UInt64, pid: Int32) {
        self.lease = lease
        self.pid = pid
    }

    public func check() {}
}

/// Ends a lease, if it has not ended. The answer comes when an app that was mounted only to run is unmounted, unless
/// another lease holds it, or something in it is still in use.
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

    public func check() {}
}

/// Marks an app running, until it is terminated or the device is restarted or shut down. Nothing is started or mounted,
/// and an app that is marked already stays so.
public struct MarkRunningRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "mark-running"

    public var app: String

    public init(app: String) {
        self.app = app
    }

    public func check() {}
}

/// Ends all that runs of an app, and every mark. The answer comes when it does not run any more.
///
/// Processes get SIGTERM, and SIGKILL when they are still there five seconds later. Fails with `notRunning` when the
/// app does not run.
public struct TerminateRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "terminate"
    public static let isRepeatable = false

    public var app: String

    public init(app: String) {
        self.app = app
    }

    public func check() {}
}
