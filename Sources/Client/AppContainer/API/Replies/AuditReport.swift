// The reply to an audit: how an app keeps to the data storage guidelines.

/// The findings of an audit.
public struct AuditReport: Codable, Hashable, Sendable {
    /// The share of one directory in a backup; directories of the first two levels have one.
    public struct Directory: Codable, Hashable, Sendable {
        /// The container, such as `AppDomain-com.example.Notes`.
        public var domain: String
        /// Relative to the container; empty for the container itself.
        public var path: String
        /// The number of files that would be backed up.
        public var files: Int
        /// The bytes of those files.
        public var size: Int64
        /// The bytes of files that would be left out.
        public var leftOut: Int64

        public init(domain: String, path: String, files: Int, size: Int64, leftOut: Int64) {
            self.domain = domain
            self.path = path
            self.files = files
            self.size = size
            self.leftOut = leftOut
        }
    }

    /// A file or directory that breaks a rule.
    public struct Finding: Codable, Hashable, Sendable {
        public enum Severity: String, Codable, Sendable {
            /// The audit fails.
            case breach
            case advice
        }

        /// `recreatableBackedUp`, `documentNotBackedUp`, `documentReadableWhileLocked`, `irreplaceablePurgeable`,
        /// `irreplaceableLostByUpdate` or `excludedDirectoryName`.
        public var rule: String
        public var severity: Severity
        public var domain: String
        /// Relative to the container.
        public var path: String
        /// Bytes of the file, or of all files in the directory.
        public var size: Int64

        public init(rule: String, severity: Severity, domain: String, path: String, size: Int64) {
            self.rule = rule
            self.severity = severity
            self.domain = domain
            self.path = path
            self.size = size
        }
    }

    public var app: String
    /// Whether there is no breach.
    public var passed: Bool
    public var directories: [Directory]
    public var findings: [Finding]

    public init(app: String, passed: Bool, directories: [Directory], findings: [Finding]) {
        self.app = app
        self.passed = passed
        self.directories = directories
        self.findings = findings
    }
}
