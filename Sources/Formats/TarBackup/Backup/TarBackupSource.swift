// A backup in the form of a tar that is being read.

public import BackupModel
import Glibc
import Platform
public import SandboxModel

/// Reads a backup that ``TarBackupSink`` wrote, compressed or not; of an incremental one all that a full one would have.
public final class TarBackupSource: BackupSource {
    /// The entry that ``next()`` returned last.
    private struct Current {
        let archive: TarArchive
        let line: ManifestLine
        let length: Int64
        let data: [Range<Int64>]
    }

    public let apps: [BackupApp]
    /// The digest of its manifest, which names it.
    public let identity: [UInt8]

    private let archives: [TarArchive]
    private let wants: (BackupDomain) -> Bool
    private var order = WalkOrder()
    private var current: Current?
    private var isAtEnd = false
    /// After it nothing more is given, so that nobody goes on over it.
    private var failure: Complaint?

    /// Opens a backup, and sees that its manifest is whole, and what it continues there.
    ///
    /// - Parameters:
    ///   - path: of the backup.
    ///   - base: where the backup lies that it continues, if not where it says.
    ///   - scratch: a directory where the list of a compressed backup is kept, under no name, until this value goes.
    ///   - wants: the domains whose entries are given. The content of others is not read.
    public init(
        path: String, base: String? = nil, scratch: String = "/var/tmp",
        wants: @escaping (BackupDomain) -> Bool = { _ in true }
    ) throws(Complaint) {
        archives = try TarChain.open(path, base: base, scratch: scratch)
        let first = archives[0]
        apps = try judging(path) { () throws(BackupFlaw) in try first.description.backupApps() }
        identity = first.manifest.end.digest
        self.wants = wants
    }

    public func next() throws(Complaint) -> BackupEntry? {
        try once { () throws(Complaint) in try nextEntry() }
    }

    public func read(_ body: (borrowing RawSpan, Int64) throws(Complaint) -> Void) throws(Complaint) {
        try once { () throws(Complaint) in try readContent(body) }
    }

    public func verifyEnd() throws(Complaint) {
        try once { () throws(Complaint) in
            while !isAtEnd { _ = try nextEntry() }
            try archives[0].requireEnd()
        }
    }

    private func once<Result>(_ body: () throws(Complaint) -> Result) throws(Complaint) -> Result {
        if let failure { throw failure }
        do throws(Complaint) {
            return try body()
        } catch {
            failure = error
            throw error
        }
    }

    private func nextEntry() throws(Complaint) -> BackupEntry? {
        current = nil
        let first = archives[0]
        while true {
            let place = first.lines.offset
            guard let line = try first.lines.next() else { break }
            let domain = try judging(first.name) { () throws(BackupFlaw) in
                let (domain, path) = try ArchivePath.parse(line.path)
                try order.requirePlace(of: path, in: domain, line.path)
                order.advance(to: path, in: domain, isDirectory: line.kind == .directory)
                return domain
            }
            guard wants(domain) else {
                if line.isHere { _ = try first.entry(of: line) }
                continue
            }
            let entry = try entry(of: line)
            if case .hardLink(let names) = entry.kind {
                let target = try judging(first.name) { () throws(BackupFlaw) in
                    try ArchivePath.bytes(entry.domain, names)
                }
                guard try first.manifest.hasFirstName(target, from: first.firstEntry, before: place) else {
                    throw first.flaw(
                        BackupFlaw("has a hard link to a file that does not come before it: \(line.path.shown)"))
                }
            }
            return entry
        }
        isAtEnd = true
        return nil
    }

    /// Reads the entry that a line of the named backup tells of, from there or from an earlier one.
    private func entry(of wanted: ManifestLine) throws(Complaint) -> BackupEntry {
        var (depth, line) = (0, wanted)
        while !line.isHere {
            guard depth + 1 < archives.count else { throw archives[depth].flaw(.altered(line.path)) }
            depth += 1
            line = try archives[depth].advance(to: wanted.path)
            guard line.kind == wanted.kind, line.metadata == wanted.metadata, line.content == wanted.content else {
                throw archives[depth].flaw(.altered(line.path))
            }
        }
        let archive = archives[depth]
        let found = try archive.entry(of: line)
        // The manifest may be as wrong as the entry.
        let entry = try judging(archive.name) { () throws(BackupFlaw) in
            let entry = try found.backupEntry()
            guard ManifestLine.Kind(entry.kind) == line.kind else { throw .altered(line.path) }
            return entry
        }
        if case .file = entry.kind, case .file(let length, let data) = found.kind {
            current = Current(archive: archive, line: line, length: length, data: data)
        }
        return entry
    }

    private func readContent(_ body: (borrowing RawSpan, Int64) throws(Complaint) -> Void) throws(Complaint) {
        guard let current else { return }
        self.current = nil
        try current.archive.content(of: current.line, length: current.length, data: current.data, body)
    }
}
