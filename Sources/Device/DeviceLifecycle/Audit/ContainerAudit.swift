// The audit of an app's containers, by App Review's rules: what would be backed up, and what lies in the wrong place.

public import BackingStore
import BackupModel
import Platform
public import SandboxModel
public import SandboxPolicy

/// The result of an audit.
public struct ContainerAudit: Equatable, Sendable {
    /// A file or directory that breaks a rule.
    public struct Finding: Hashable, Sendable {
        public let rule: AuditRule
        /// `AppDomain-com.example.Notes` or that of a group.
        public let domain: String
        /// From the container.
        public let path: [FileName]
        /// The length of a file; of a directory, of all files in it.
        public internal(set) var bytes: Int64
    }

    /// The files of one directory that a backup would hold.
    public struct Share: Hashable, Sendable {
        public let domain: String
        public let path: [FileName]
        public internal(set) var files: Int
        public internal(set) var bytes: Int64
        /// Bytes of files that are left out.
        public internal(set) var leftOut: Int64
    }

    /// By container, in the order of a walk: the directories of the first two levels.
    public internal(set) var shares: [Share] = []
    /// By container, in the order of a walk.
    public internal(set) var findings: [Finding] = []

    /// The findings of one rule among the entries of one directory.
    public struct Group: Hashable, Sendable {
        public let rule: AuditRule
        public let domain: String
        /// That of the finding if it is the only one, else of the directory.
        public internal(set) var path: [FileName]
        /// The number of findings.
        public internal(set) var count: Int
        public internal(set) var bytes: Int64
        /// The names of the first findings in the directory; empty for a single one.
        public internal(set) var names: [FileName]
    }

    /// The findings in groups: by rule, breaches first, then in the order of a walk.
    public var groups: [Group] {
        struct Key: Hashable {
            let rule: AuditRule
            let domain: String
            let directory: [FileName]
        }
        var groups: [(group: Group, first: FileName?)] = []
        var places: [Key: Int] = [:]
        for finding in findings {
            let key = Key(rule: finding.rule, domain: finding.domain, directory: Array(finding.path.dropLast()))
            if let place = places[key] {
                ContainerAudit.add(finding, key.directory, to: &groups[place])
            } else {
                places[key] = groups.count
                let group = Group(
                    rule: finding.rule, domain: finding.domain, path: finding.path, count: 1, bytes: finding.bytes,
                    names: [])
                groups.append((group, finding.path.last))
            }
        }
        let order = AuditRule.allCases.filter(\.isBreach) + AuditRule.allCases.filter { !$0.isBreach }
        return order.flatMap { rule in groups.lazy.map(\.group).filter { $0.rule == rule } }
    }

    /// A group shows so many names.
    private static let shownNames = 3

    private static func add(
        _ finding: Finding, _ directory: [FileName], to place: inout (group: Group, first: FileName?)
    ) {
        if place.group.count == 1 {
            place.group.path = directory
            place.group.names = place.first.map { [$0] } ?? []
        }
        place.group.count += 1
        place.group.bytes += finding.bytes
        if place.group.names.count < shownNames, let name = finding.path.last { place.group.names.append(name) }
    }

    /// Whether no finding is a breach. Advice does not fail an audit.
    public var isPassed: Bool { !findings.contains { $0.rule.isBreach } }
}

extension BootedDevice {
    /// Audits an app's data container and its groups.
    ///
    /// - Parameters:
    ///   - openFile: the file that a volume has open for an inode of the host; nil if none has.
    ///   - progress: files seen; false cancels.
    /// - Throws: ``Complaint`` of kind `unknownApp`.
    public func audit(
        _ identifier: ContainerIdentifier, patterns: AuditPatterns = AuditPatterns(),
        openFile: (UInt64) -> EncryptedFile? = { _ in nil }, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> ContainerAudit {
        let app = try app(identifier)
        var run = AuditRun(of: app, on: self, patterns: patterns)
        try run.audit(.app(app.identifier), .data, app.data, openFile: openFile, progress: progress)
        for group in app.groups {
            try run.audit(.group(group.identifier), .group, group.uuid, openFile: openFile, progress: progress)
        }
        return run.result
    }
}

/// One audit, and its result so far.
private struct AuditRun {
    private(set) var result = ContainerAudit()
    private let app: InstalledApp
    private let directory: DeviceDirectory
    private let patterns: AuditPatterns
    /// Files and directories seen.
    private var seen: Int64 = 0

    init(of app: InstalledApp, on device: BootedDevice, patterns: AuditPatterns) {
        self.app = app
        directory = device.directory
        self.patterns = patterns
    }

    /// Audits one container.
    mutating func audit(
        _ domain: BackupDomain, _ kind: ContainerKind, _ uuid: ContainerUUID, openFile: (UInt64) -> EncryptedFile?,
        progress: (DeviceProgress) -> Bool
    ) throws(Complaint) {
        let directory = directory
        let container = try Complaint.wrap("cannot open a container of \(app.identifier)") {
            () throws(SystemError) in
            SharedDescriptor(try directory.container(kind, uuid))
        }
        var part = AuditedContainer(domain.name, isData: kind == .data, app: app.identifier, patterns)
        var walk = ContainerWalk(kind, container)
        var seen = seen
        try walk.run { (place, inclusion) throws(Complaint) in
            seen += 1
            guard progress(DeviceProgress(unit: .files, completed: seen, total: nil)) else {
                throw Complaint.cancelled
            }
            return part.add(place, inclusion, length: openFile(place.status.inode)?.length)
        }
        self.seen = seen
        result.shares += part.shares
        result.findings += part.findings
    }
}
