// News of work that takes a while.

/// How far a long operation has come.
public struct WorkProgress: Codable, Hashable, Sendable {
    public enum Unit: String, Codable, Sendable {
        case bytes, files
    }

    /// What is under way, for people.
    public var activity: String
    /// What is counted.
    public var unit: Unit
    public var done: Int64
    /// Null while it is not known.
    public var total: Int64?

    public init(activity: String, unit: Unit, done: Int64, total: Int64?) {
        self.activity = activity
        self.unit = unit
        self.done = done
        self.total = total
    }
}

/// One line of an answer in newline-delimited JSON: any number of `progress`, then one `result` or `complaint`.
public struct WorkLine<Result: Codable & Sendable>: Codable, Sendable {
    public var progress: WorkProgress?
    public var result: Result?
    public var complaint: DeviceError?

    public init(progress: WorkProgress? = nil, result: Result? = nil, complaint: DeviceError? = nil) {
        self.progress = progress
        self.result = result
        self.complaint = complaint
    }
}

/// The media types of the control API.
public enum ControlMedia {
    public static let json = "application/json"
    /// Asked for in `Accept` by who wants progress as well.
    public static let lines = "application/x-ndjson"
}
