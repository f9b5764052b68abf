// Looking at an app's containers as App Review would: what would be backed up, and what lies in the wrong place.

public import BackingStore
import BackupModel
import Glibc
import Platform
public import SandboxModel
public import SandboxPolicy

/// What an audit found.
public struct ContainerAudit: Equatable, Sendable {
    /// What breaks a rule.
    public struct Finding: Hashable, Sendable {
        public let rule: AuditRule
        /// `AppDomain-com.example.Notes` or that of a group.
        public let domain: String
        /// From the container.
        public let path: [FileName]
        /// The length of a file; of a directory, of all files in it.
        public internal(set) var bytes: Int64
    }

    /// What a directory would bring into a backup.
    public struct Share: Hashable, Sendable {
        public let domain: String
        public let path: [FileName]
        public internal(set) var files: Int
        public internal(set) var bytes: Int64
        /// Of files that are left out.
        public internal(set) var leftOut: Int64
    }

    public internal(set) var shares: [Share] = []
    public internal(set) var findings: [Finding] = []

    public var isPassed: Bool { !findings.contains { $0.rule.isBreach } }
}

extension Device {
    /// Audits an app's data container and its groups.
    ///
    /// - Parameter openFile: the file that a volume has open for an inode of the host, if it has.
    public func audit(
        _ identifier: ContainerIdentifier, patterns: AuditPatterns = AuditPatterns(),
        openFile: (UInt64) -> EncryptedFile? = { _ in nil }, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> ContainerAudit {
        let app = try app(identifier)
        var audit = ContainerAudit()
        var looked: Int64 = 0
        let places =
            [(BackupDomain.app(app.identifier), ContainerKind.data, app.data)]
            + app.groups.map { (.group($0.identifier), .group, $0.uuid) }
        for (domain, kind, uuid) in places {
            let container = try Complaint.wrap("cannot open a container of \(identifier)") { () throws(SystemError) in
                SharedDescriptor(try directory.container(kind, uuid))
            }
            var part = AuditedContainer(domain.name, isData: kind == .data, app: identifier, patterns)
            var walk = ContainerWalk(kind, container)
            try walk.run { (place, inclusion) throws(Complaint) in
                looked += 1
                guard progress(DeviceProgress(unit: .files, completed: looked, total: nil)) else {
                    throw Complaint.cancelled
                }
                let length = openFile(place.status.inode)?.length
                return part.look(at: place, inclusion, length: length)
            }
            audit.shares += part.shares
            audit.findings += part.findings
        }
        return audit
    }
}

/// One container under audit.
private struct AuditedContainer {
    let domain: String
    let isData: Bool
    let app: ContainerIdentifier
    let patterns: AuditPatterns
    private(set) var shares: [ContainerAudit.Share] = []
    private(set) var findings: [ContainerAudit.Finding] = []
    /// A directory that breaks a rule as a whole, which what is in it adds to.
    private var whole: (path: [FileName], finding: Int)?

    init(_ domain: String, isData: Bool, app: ContainerIdentifier, _ patterns: AuditPatterns) {
        self.domain = domain
        self.isData = isData
        self.app = app
        self.patterns = patterns
    }

    /// - Returns: whether to look into a directory.
    mutating func look(at place: ContainerPlace, _ inclusion: BackupInclusion, length: Int64?) -> Bool {
        let isDirectory = place.status.kind == .directory
        guard isDirectory || place.status.kind == .file else { return false }
        // Of what the system keeps at the top nothing is the app's.
        guard !isData || place.path.isEmpty || AuditedContainer.appDirectories.contains(place.path[0]) else {
            return false
        }
        if let (path, _) = whole, !place.path.starts(with: path) { whole = nil }
        let bytes = isDirectory ? 0 : length ?? ContentLayout.length(ofBacking: place.status.size)
        count(place.path, isDirectory: isDirectory, bytes: bytes, inclusion)
        if let whole {
            findings[whole.finding].bytes += bytes
            return true
        }
        let sort = place.path.isEmpty ? .ordinary : patterns.sort(of: place.path, isDirectory: isDirectory)
        let item = AuditedItem(
            path: place.path, isData: isData, isDirectory: isDirectory, sort: sort, inclusion: inclusion,
            isMarked: place.isMarked,
            protection: [.document, .media].contains(sort) && !isDirectory ? place.protection : nil)
        for rule in AuditRules.broken(by: item, of: app) {
            findings.append(ContainerAudit.Finding(rule: rule, domain: domain, path: place.path, bytes: bytes))
            if isDirectory { whole = (place.path, findings.count - 1) }
        }
        return true
    }

    private static let appDirectories: [FileName] = ["Documents", "Library", "tmp"]

    /// The directories whose size is told: those of the first two levels.
    private static let levels = 2

    private mutating func count(_ path: [FileName], isDirectory: Bool, bytes: Int64, _ inclusion: BackupInclusion) {
        let directory = Array((isDirectory ? path : Array(path.dropLast())).prefix(AuditedContainer.levels))
        if shares.last?.path != directory {
            guard !shares.contains(where: { $0.path == directory }) else {
                return add(bytes, inclusion, to: shares.firstIndex { $0.path == directory }!, isFile: !isDirectory)
            }
            shares.append(ContainerAudit.Share(domain: domain, path: directory, files: 0, bytes: 0, leftOut: 0))
        }
        add(bytes, inclusion, to: shares.count - 1, isFile: !isDirectory)
    }

    private mutating func add(_ bytes: Int64, _ inclusion: BackupInclusion, to index: Int, isFile: Bool) {
        guard isFile else { return }
        if inclusion == .included {
            shares[index].files += 1
            shares[index].bytes += bytes
        } else {
            shares[index].leftOut += bytes
        }
    }
}
