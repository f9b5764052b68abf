// The replies to requests about the background.

/// A lock on a file in a group container that a process held when it was suspended.
public struct HeldLock: Codable, Hashable, Sendable {
    /// Relative to the app's home. Of a SQLite database in WAL mode the database, although the locks are on its `-shm`.
    public var path: String
    /// `flock`, `posix`, `ofd`, or `sqlite` for a transaction of a SQLite database.
    public var lock: String
    /// The number of the process, as the daemon sees it: in its own PID namespace. After a suspension the process is
    /// gone, and another one may have the number.
    public var pid: Int32
    /// The name of the process (comm in proc(5)); null where it cannot be seen.
    public var process: String?

    /// A lock for a test of one's own; nothing is looked up.
    /// - Parameters:
    ///   - path: relative to the app's home.
    ///   - lock: as ``lock``.
    ///   - pid: the number of the process.
    ///   - process: its name; nil where it cannot be seen.
    public init(path: String, lock: String, pid: Int32, process: String? = nil) {
        self.path = path
        self.lock = lock
        self.pid = pid
        self.process = process
    }
}

/// The result of a suspension.
public struct SuspensionReport: Codable, Hashable, Sendable {
    /// The number of processes that were frozen. None for an app that only a mark or a mount holds running.
    public var processes: Int
    /// Whether a control group froze them, so that none has got a signal.
    public var freezer: Bool
    /// The locks for which processes were killed.
    public var terminated: [HeldLock]
    /// The names of background tasks that had not ended. A phone ends an app for that.
    public var unendedTasks: [String]

    /// A report for a test of one's own; nothing is suspended.
    /// - Parameters:
    ///   - processes: how many were frozen, from 0 on. Those that were killed are in `terminated` only.
    ///   - freezer: whether it was a control group, and not SIGSTOP.
    ///   - terminated: the locks for which processes were killed.
    ///   - unendedTasks: the names of background tasks that had not ended.
    public init(processes: Int, freezer: Bool, terminated: [HeldLock] = [], unendedTasks: [String] = []) {
        self.processes = processes
        self.freezer = freezer
        self.terminated = terminated
        self.unendedTasks = unendedTasks
    }
}

/// The result of a suspension that was only rehearsed.
public struct SuspensionRehearsal: Codable, Hashable, Sendable {
    /// The locks for which the process would have been killed.
    public var locks: [HeldLock]
    /// As ``SuspensionReport/unendedTasks``.
    public var unendedTasks: [String]

    public init(locks: [HeldLock], unendedTasks: [String] = []) {
        self.locks = locks
        self.unendedTasks = unendedTasks
    }
}

/// A background task that was begun.
public struct BackgroundTask: Codable, Hashable, Sendable {
    /// Never used again by the device's process, and never 0.
    public var task: UInt64
    /// The seconds until the app is suspended at the latest; null while it is not in the background.
    public var remaining: Double?

    public init(task: UInt64, remaining: Double?) {
        self.task = task
        self.remaining = remaining
    }

    private enum CodingKeys: CodingKey {
        case task, remaining
    }

    /// Writes null where there is no limit, so that a client finds the key in every answer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(task, forKey: .task)
        try container.encode(remaining, forKey: .remaining)
    }
}
