// What a check of a whole device found.

public struct CheckReport: Codable, Hashable, Sendable {
    /// One thing that is not as it was written.
    public struct Problem: Codable, Hashable, Sendable {
        /// The app, group or part of the device.
        public var container: String
        /// Relative to the container.
        public var path: String
        public var message: String

        public init(container: String, path: String, message: String) {
            self.container = container
            self.path = path
            self.message = message
        }
    }

    /// The files whose every block was looked at.
    public var files: Int
    /// Files whose content the present state of the device keeps closed; their headers were looked at as far as
    /// that goes without a key.
    public var unreadable: Int
    public var problems: [Problem]
    /// What `repair` cleared away.
    public var repaired: [Problem]

    public init(files: Int, unreadable: Int, problems: [Problem], repaired: [Problem]) {
        self.files = files
        self.unreadable = unreadable
        self.problems = problems
        self.repaired = repaired
    }

    public var isWhole: Bool { problems.isEmpty }
}
