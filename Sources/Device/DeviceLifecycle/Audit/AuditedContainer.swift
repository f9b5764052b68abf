// The walk of an audit through one container: sizes of directories, and findings.

import BackingStore
import BackupModel
import Platform
import SandboxModel
import SandboxPolicy

/// One container under audit.
struct AuditedContainer {
    private let domain: String
    /// Whether it is the data container: only that has places of the system, and a `tmp`.
    private let isData: Bool
    private let app: ContainerIdentifier
    private let patterns: AuditPatterns
    /// By directory of at most two levels, in the order of the walk.
    private(set) var shares: [ContainerAudit.Share] = []
    private(set) var findings: [ContainerAudit.Finding] = []
    /// A directory that breaks a rule as a whole: its files add to its finding.
    private var whole: (path: [FileName], sort: StoredSort, finding: Int)?
    /// The directories that lead to where the walk is, and the patterns that match them, the outermost first.
    private var covers: [(depth: Int, match: AuditPatterns.Match)] = []

    /// - Parameter domain: the name under which findings are reported.
    init(_ domain: String, isData: Bool, app: ContainerIdentifier, _ patterns: AuditPatterns) {
        self.domain = domain
        self.isData = isData
        self.app = app
        self.patterns = patterns
    }

    /// Audits what the walk came to.
    /// - Parameter length: of an open file.
    /// - Returns: whether to walk into a directory.
    mutating func add(_ place: ContainerPlace, _ inclusion: BackupInclusion, length: Int64?) -> Bool {
        let isDirectory = place.status.kind == .directory
        guard isDirectory || place.status.kind == .file else { return false }
        // All else at the top is the system's.
        guard !isData || place.path.isEmpty || AuditedContainer.appDirectories.contains(place.path[0]) else {
            return false
        }
        let match = match(of: place, isDirectory: isDirectory)
        let sort = match?.sort ?? .ordinary
        if let path = whole?.path, !place.path.starts(with: path) { whole = nil }
        let bytes = isDirectory ? 0 : length ?? ContentLayout.length(ofBacking: place.status.size)
        count(place.path, isDirectory: isDirectory, bytes: bytes, inclusion)
        // A user's pattern for something in the directory has the last word on that.
        if let whole, match?.isUsers != true || sort == whole.sort {
            findings[whole.finding].bytes += bytes
            return true
        }
        let item = AuditedItem(
            path: place.path, isData: isData, isDirectory: isDirectory, sort: sort,
            isSortedByUser: match?.isUsers ?? false, inclusion: inclusion, isMarked: place.isMarked,
            protection: [.document, .media].contains(sort) && !isDirectory ? place.protection : nil)
        for rule in AuditRules.broken(by: item, of: app) {
            findings.append(ContainerAudit.Finding(rule: rule, domain: domain, path: place.path, bytes: bytes))
            if isDirectory { whole = (place.path, sort, findings.count - 1) }
        }
        return true
    }

    /// The pattern that decides on what the walk came to. The system's own directories have none: one for caches by
    /// their names would cover all that lies in `Library/Caches`.
    private mutating func match(of place: ContainerPlace, isDirectory: Bool) -> AuditPatterns.Match? {
        while let last = covers.last, last.depth >= place.depth { covers.removeLast() }
        let path = place.path
        let places = isData ? PurgeableDirectory.allCases : PurgeableDirectory.ofGroup
        guard !places.contains(where: { $0.path == path }) else { return nil }
        let match = patterns.match(path, isDirectory: isDirectory, in: covers.last?.match)
        if isDirectory, let match { covers.append((place.depth, match)) }
        return match
    }

    /// The directories at the top of a data container that belong to the app.
    private static let appDirectories = [HomeLayout.documents, HomeLayout.library, HomeLayout.temporary]

    /// Sizes are reported for directories of so many levels.
    private static let levels = 2

    /// Adds a file to the share of its directory; a directory gets a share though it is empty.
    private mutating func count(_ path: [FileName], isDirectory: Bool, bytes: Int64, _ inclusion: BackupInclusion) {
        let directory = Array((isDirectory ? path : Array(path.dropLast())).prefix(AuditedContainer.levels))
        // Most entries follow one of the same directory; the search is for one that the walk comes back to.
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
