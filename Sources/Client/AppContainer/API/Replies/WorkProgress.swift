// The lines of a response with progress.

/// The progress of a long operation.
public struct WorkProgress: Codable, Hashable, Sendable {
    public enum Unit: String, Codable, Sendable {
        case bytes, files
    }

    /// The work under way, for people.
    public var activity: String
    /// The unit of the numbers.
    public var unit: Unit
    public var done: Int64
    /// Null while unknown.
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
    /// The value of `Accept` in a request for progress.
    public static let lines = "application/x-ndjson"
}
