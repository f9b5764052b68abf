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
        let map: SparseMap?
        let length: Int64
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
            let (domain, given) = try judging(first.name) { () throws(BackupFlaw) in
                let domain = try ArchivePath.parse(line.path).domain
                let given = try order.approach(line.path)
                order.enter(line.path, isDirectory: line.kind == .directory)
                return (domain, given)
            }
            guard wants(domain) else {
                if line.isHere { try first.skip(line) }
                continue
            }
            let entry = try entry(of: line, given)
            if case .directory = entry.kind { order.give(entry.protection) }
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
    private func entry(of wanted: ManifestLine, _ given: ProtectionClass) throws(Complaint) -> BackupEntry {
        var (depth, line) = (0, wanted)
        while !line.isHere {
            guard depth + 1 < archives.count else { throw archives[depth].flaw(.altered(line.path)) }
            depth += 1
            line = try archives[depth].advance(to: wanted.path)
            guard line.kind == wanted.kind, line.header == wanted.header, line.content == wanted.content else {
                throw archives[depth].flaw(.altered(line.path))
            }
        }
        let archive = archives[depth]
        let header = try archive.nextHeader()
        let entry = try judging(archive.name) { () throws(BackupFlaw) in
            let entry = try header.reading.entry(map: header.map)
            // The manifest may be as wrong as the entry: what counts is that we would have written it just so.
            guard header.reading.path == line.path, ManifestLine.Kind(entry.kind) == line.kind,
                try EntryHeader(entry, at: line.path, given: given).bytes == header.bytes,
                !entry.path.isEmpty || entry.kind == .directory
            else { throw .altered(line.path) }
            return entry
        }
        guard archive.digest(of: header.bytes) == line.header else { throw archive.flaw(.altered(line.path)) }
        if case .file(let content) = entry.kind {
            current = Current(archive: archive, line: line, map: header.map, length: content.length)
        }
        return entry
    }

    private func readContent(_ body: (borrowing RawSpan, Int64) throws(Complaint) -> Void) throws(Complaint) {
        guard let current else { return }
        self.current = nil
        let archive = current.archive
        var position: Int64 = 0
        let whole = [0..<current.length].filter { !$0.isEmpty }
        for range in current.map?.data ?? whole {
            archive.digest.update(zeros: range.lowerBound - position)
            position = range.lowerBound
            while position < range.upperBound {
                let piece = try archive.piece(atMost: range.upperBound - position)
                let (buffer, place) = (archive.stream.buffer, position)
                archive.digest.update(buffer, piece)
                try buffer.withBytes(piece.lowerBound, count: piece.count) { bytes throws(Complaint) in
                    try body(bytes, place)
                }
                position += Int64(piece.count)
            }
        }
        archive.digest.update(zeros: current.length - position)
        try archive.endContent(of: current.line.path)
        guard archive.digest.finish() == current.line.content else { throw archive.flaw(.altered(current.line.path)) }
    }
}
