// Requests about the background: suspension, its end, and background tasks.

/// Brings an app into the background, and suspends it. The response comes when it is suspended.
///
/// The app is told by the event `entered`. Without ``after`` its processes are frozen at once. With it they go on for
/// so many seconds, or until the last background task has ended; tasks are told shortly before by the event `expiring`.
/// A process that then holds a lock on a file in a group container is killed.
///
/// When the client disconnects before, the app comes to the foreground. Fails with `notRunning` when the app does not
/// run, or ends meanwhile; `appSuspended` when it is in the background already; `notSuspended` when it came to the
/// foreground meanwhile; `notFrozen` when a process does not stop: then the app is in the foreground.
public struct SuspendRequest: ControlRequest {
    public typealias Reply = SuspensionReport
    public static let path = "suspend"
    public static let isRepeatable = false

    public var app: String
    /// The seconds in the background before, by the device's clock; 0 when null.
    public var after: Double?

    public init(app: String, after: Double? = nil) {
        self.app = app
        self.after = after
    }

    public func check() throws(DeviceError) {
        try requireIdentifier(app)
        try requireStay(after)
    }
}

/// Brings an app to the foreground, and has its processes go on. The response comes when they do. Fails with
/// `notSuspended` when the app is neither suspended nor in the background.
public struct ResumeRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "resume"
    public static let isRepeatable = false

    public var app: String

    public init(app: String) {
        self.app = app
    }

    public func check() throws(DeviceError) { try requireIdentifier(app) }
}

/// Does to an app what ``SuspendRequest`` does, for one process, but freezes and kills nothing: the app enters the
/// background, the locks of the process are looked at, and the app comes to the foreground again.
///
/// For a test that is the app itself. The app need not be running. Fails with `notAllowed` for a process that the
/// device's process may not look into, such as another user's.
public struct SuspensionRehearsalRequest: ControlRequest {
    public typealias Reply = SuspensionRehearsal
    public static let path = "rehearse-suspension"

    public var app: String
    /// The number of a process, as the daemon sees it.
    public var pid: Int32
    /// As ``SuspendRequest/after``.
    public var after: Double?

    public init(app: String, pid: Int32, after: Double? = nil) {
        self.app = app
        self.pid = pid
        self.after = after
    }

    public func check() throws(DeviceError) {
        try requireIdentifier(app)
        try requireProcess(pid, "pid")
        try requireStay(after)
    }
}

/// Begins a background task, for whose end a suspension waits. It ends with its process at the latest.
public struct BeginBackgroundTaskRequest: ControlRequest {
    public typealias Reply = BackgroundTask
    public static let path = "begin-background-task"
    public static let isRepeatable = false

    public var app: String
    /// The number of the process that has the task, as the daemon sees it.
    public var pid: Int32
    /// For people; at most 255 bytes.
    public var name: String?

    public init(app: String, pid: Int32, name: String? = nil) {
        self.app = app
        self.pid = pid
        self.name = name
    }

    public func check() throws(DeviceError) {
        try requireIdentifier(app)
        try requireProcess(pid, "pid")
        try requireNoNUL(name ?? "", "name")
        guard (name ?? "").utf8.count <= 255 else { throw DeviceError(.badRequest, "name has at most 255 bytes") }
    }
}

/// Ends a background task, if it has not ended.
public struct EndBackgroundTaskRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "end-background-task"

    public var app: String
    /// As ``BackgroundTask/task``.
    public var task: UInt64

    public init(app: String, task: UInt64) {
        self.app = app
        self.task = task
    }

    public func check() throws(DeviceError) { try requireIdentifier(app) }
}

/// The longest stay in the background, in seconds: a day.
private let longestStay = 86_400.0

/// - Throws: an error of kind `badRequest`.
private func requireStay(_ seconds: Double?) throws(DeviceError) {
    guard let seconds, !(0...longestStay).contains(seconds) else { return }
    throw DeviceError(.badRequest, "after is a number of seconds from 0 to \(Int(longestStay))")
}
