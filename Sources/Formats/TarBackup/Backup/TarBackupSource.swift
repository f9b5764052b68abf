// Reading a backup from a tar.

public import BackupModel
import Glibc
import Platform
public import SandboxModel
import TarFormat

/// Reads a backup that ``TarBackupSink`` wrote, compressed or not. An incremental backup gives the entries of a full
/// one.
///
/// Backups are untrusted input: no name, symlink or hard link can lead outside its container, and every byte is
/// verified against the manifest. One thread at a time may use this object.
public final class TarBackupSource: BackupSource {
    /// The file that ``next()`` returned last.
    private struct Current {
        let archive: TarArchive
        let line: ManifestLine
        let length: Int64
        let data: [Range<Int64>]
    }

    public let apps: [BackupApp]
    public let passwordKeybag: [UInt8]?
    /// The digest of the manifest, which identifies the backup.
    public let identity: [UInt8]

    /// The backup, then those that it continues, the latest first.
    private let archives: [TarArchive]
    private let wants: (BackupDomain) -> Bool
    private var order = WalkOrder()
    private var current: Current?
    private var isAtEnd = false
    /// The first error, which every later call throws again.
    private var failure: Complaint?

    /// Opens a backup and those that it continues, and verifies their manifests.
    ///
    /// - Parameters:
    ///   - path: the file of the backup.
    ///   - base: the file of the backup that it continues; nil to look where the backup says.
    ///   - scratch: a directory for the manifest of a compressed backup: a file without a name.
    ///   - wants: whether the entries of a domain are given. The content of others is not read.
    /// - Throws: ``Complaint`` of kind `notFound`, `invalidBackup` or `newerBackup`, or with the host's error.
    public init(
        path: String, base: String? = nil, scratch: String = "/var/tmp",
        wants: @escaping (BackupDomain) -> Bool = { _ in true }
    ) throws(Complaint) {
        archives = try TarChain.open(path, base: base, scratch: scratch)
        let first = archives[0]
        apps = try complaining(about: path) { () throws(ArchiveFlaw) in try first.description.backupApps() }
        // An earlier archive may have been made under another password, of the same keys.
        passwordKeybag = first.description.passwordKeybag
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

    /// Runs a step, unless one has failed before.
    private func once<Result>(_ body: () throws(Complaint) -> Result) throws(Complaint) -> Result {
        if let failure { throw failure }
        do throws(Complaint) {
            return try body()
        } catch {
            failure = error
            throw error
        }
    }

    /// Goes through the lines of the manifest to the next wanted entry.
    private func nextEntry() throws(Complaint) -> BackupEntry? {
        current = nil
        let first = archives[0]
        while true {
            let place = first.lines.offset
            guard let line = try first.lines.next() else { break }
            let domain = try complaining(about: first.name) { () throws(ArchiveFlaw) in
                let (domain, path) = try ArchivePath.parse(line.path)
                try order.requirePlace(of: path, in: domain, line.path)
                order.advance(to: path, in: domain, isDirectory: line.kind == .directory)
                return domain
            }
            guard wants(domain) else {
                if line.isInThisArchive { _ = try first.entry(of: line) }
                continue
            }
            let entry = try entry(of: line)
            if case .hardLink(let names) = entry.kind {
                let target = try complaining(about: first.name) { () throws(ArchiveFlaw) in
                    try ArchivePath.bytes(entry.domain, names)
                }
                // By the manifest, as the first name itself may lie in an earlier archive.
                guard try first.manifest.hasFirstName(target, from: first.firstEntry, before: place) else {
                    throw first.flaw(
                        ArchiveFlaw("has a hard link to a file that does not come before it: \(line.path.shown)"))
                }
            }
            return entry
        }
        isAtEnd = true
        return nil
    }

    /// Reads the entry of a line, from the backup itself or from an earlier one.
    private func entry(of wanted: ManifestLine) throws(Complaint) -> BackupEntry {
        var (depth, line) = (0, wanted)
        // Every archive of the chain has the line, down to the one that has the entry.
        while !line.isInThisArchive {
            guard depth + 1 < archives.count else { throw archives[depth].flaw(.altered(line.path)) }
            depth += 1
            line = try archives[depth].advance(to: wanted.path)
            guard line.kind == wanted.kind, line.metadata == wanted.metadata, line.content == wanted.content else {
                throw archives[depth].flaw(.altered(line.path))
            }
        }
        let archive = archives[depth]
        let found = try archive.entry(of: line)
        // The manifest is no authority: a forged one agrees with a forged entry.
        let entry = try complaining(about: archive.name) { () throws(ArchiveFlaw) in
            let entry = try found.backupEntry()
            guard ManifestLine.Kind(entry.kind) == line.kind else { throw .altered(line.path) }
            return entry
        }
        if case .file = entry.kind, case .file(let length, let data) = found.kind {
            current = Current(archive: archive, line: line, length: length, data: data)
        }
        return entry
    }

    /// Reads the content of the current file, once.
    private func readContent(_ body: (borrowing RawSpan, Int64) throws(Complaint) -> Void) throws(Complaint) {
        guard let current else { return }
        self.current = nil
        try current.archive.content(of: current.line, length: current.length, data: current.data, body)
    }
}
