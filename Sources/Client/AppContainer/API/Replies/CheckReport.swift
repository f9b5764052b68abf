// The reply to a check of the whole device.

/// The findings of a check.
public struct CheckReport: Codable, Hashable, Sendable {
    /// A stored file that is damaged or left over.
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

    /// The number of files whose every block was checked.
    public var files: Int
    /// The number of files whose content the device's state keeps closed; their headers were checked as far as possible
    /// without a key.
    public var unreadable: Int
    public var problems: [Problem]
    /// The leftovers that `repair` removed.
    public var repaired: [Problem]

    public init(files: Int, unreadable: Int, problems: [Problem], repaired: [Problem]) {
        self.files = files
        self.unreadable = unreadable
        self.problems = problems
        self.repaired = repaired
    }

    public var isWhole: Bool { problems.isEmpty }
}
