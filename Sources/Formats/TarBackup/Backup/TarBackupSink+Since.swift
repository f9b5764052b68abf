// Incremental backups: unchanged entries are only named in the manifest, and lie in the earlier backup.

public import BackupModel
import Platform
public import SandboxModel
import TarFormat

/// The manifest of the earlier backup, read along with the walk.
struct TarBase {
    /// The digest of the manifest, by which the new backup refers to the earlier one.
    let identity: [UInt8]
    private var lines: TarManifest.Lines
    private var line: ManifestLine?

    /// Opens the earlier backup, and all backups that it continues itself: a restore needs every one.
    /// - Throws: ``Complaint`` if one of them is missing, damaged, or one too many.
    init(_ path: String, scratch: String) throws(Complaint) {
        let chain = try TarChain.open(path, scratch: scratch)
        guard chain.count < TarChain.longest else {
            throw chain[0].flaw(ArchiveFlaw("continues too many others to be continued; make a full backup"))
        }
        identity = chain[0].manifest.end.digest
        lines = chain[0].lines
        line = try lines.next()
    }

    /// The line of a path; nil if the earlier backup has none. Calls have to come in the order of the walk.
    mutating func line(of path: [UInt8]) throws(Complaint) -> ManifestLine? {
        while let line, ArchivePath.precedes(line.path, path) { self.line = try lines.next() }
        return line?.path == path ? line : nil
    }
}

extension TarBackupSink {
    /// Hard links are always written again: otherwise, when a tool unpacks both archives over each other, a link would
    /// keep the earlier content of its file.
    public func continues(
        _ entry: BackupEntry, goOn: () -> Bool, digest: () throws(Complaint) -> [UInt8]?
    ) throws(Complaint) -> Bool {
        guard base != nil else { return false }
        try endEntry()
        let path = try complaining(about: self.path) { () throws(ArchiveFlaw) in
            try ArchivePath.bytes(entry.domain, entry.path)
        }
        guard var line = try base?.line(of: path), line.kind == ManifestLine.Kind(entry.kind), line.kind != .hardLink
        else { return false }
        let header = try complaining(about: self.path) { () throws(ArchiveFlaw) in
            try TarEntry(entry, at: path, inheriting: try inheritedClass(of: entry, path))
        }
        // Before the content is read: most changed files have another time.
        guard header.digest == line.metadata else { return false }
        if case .file(let content) = entry.kind {
            let found = content.length == 0 ? ManifestLine.digestOfNothing : try digest()
            guard let found, found == line.content else { return false }
        }
        advance(to: entry)
        line.isInThisArchive = false
        let kept = line
        try writing { () throws(SystemError) in try output.append(.line(kept)) }
        return true
    }
}
