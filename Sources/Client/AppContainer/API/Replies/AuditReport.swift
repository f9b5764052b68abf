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

        /// `recreatableBackedUp`, `documentNotBackedUp`, `documentExcluded`, `documentReadableWhileLocked`,
        /// `irreplaceablePurgeable`, `irreplaceableLostByUpdate` or `excludedDirectoryName`.
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

    /// The findings of one rule among the entries of one directory.
    public struct Group: Codable, Hashable, Sendable {
        public var rule: String
        public var severity: Finding.Severity
        /// The rule in words, and what to do.
        public var words: String
        public var domain: String
        /// Relative to the container: that of the finding if it is the only one, else of the directory.
        public var path: String
        /// The number of findings.
        public var findings: Int
        /// Bytes of all of them.
        public var size: Int64
        /// The names of the first three findings; empty for a single one.
        public var names: [String]

        public init(
            rule: String, severity: Finding.Severity, words: String, domain: String, path: String, findings: Int,
            size: Int64, names: [String]
        ) {
            self.rule = rule
            self.severity = severity
            self.words = words
            self.domain = domain
            self.path = path
            self.findings = findings
            self.size = size
            self.names = names
        }
    }

    public var app: String
    /// Whether there is no breach.
    public var passed: Bool
    public var directories: [Directory]
    public var findings: [Finding]
    /// The findings in groups, breaches first.
    public var groups: [Group]

    public init(
        app: String, passed: Bool, directories: [Directory], findings: [Finding], groups: [Group]
    ) {
        self.app = app
        self.passed = passed
        self.directories = directories
        self.findings = findings
        self.groups = groups
    }
}
