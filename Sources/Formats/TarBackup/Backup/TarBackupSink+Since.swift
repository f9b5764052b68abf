// A backup that continues an earlier one: what has not changed is named in the manifest, and lies there.

public import BackupModel
import Platform
public import SandboxModel

/// The manifest of the earlier backup, read beside the walk.
struct TarBase {
    let identity: [UInt8]
    private var lines: Manifest.Lines
    private var line: ManifestLine?

    /// Opens it and all that it continues itself: without one of them nothing could be restored.
    init(_ path: String, scratch: String) throws(Complaint) {
        let chain = try TarChain.open(path, scratch: scratch)
        guard chain.count < TarChain.longest else {
            throw chain[0].flaw(BackupFlaw("continues too many others to be continued; make a full backup"))
        }
        identity = chain[0].manifest.end.digest
        lines = chain[0].lines
        line = try lines.next()
    }

    /// - Returns: nil where the earlier backup has nothing of that path. Asked in the order of the walk.
    mutating func line(of path: [UInt8]) throws(Complaint) -> ManifestLine? {
        while let line, ArchivePath.precedes(line.path, path) { self.line = try lines.next() }
        return line?.path == path ? line : nil
    }
}

extension TarBackupSink {
    /// A hard link is always written anew. Whoever unpacks both archives over each other would otherwise leave it with
    /// the content that its file had before.
    public func continues(
        _ entry: BackupEntry, goOn: () -> Bool, digest: () throws(Complaint) -> [UInt8]?
    ) throws(Complaint) -> Bool {
        guard base != nil else { return false }
        try endEntry()
        let path = try judging(self.path) { () throws(BackupFlaw) in
            try ArchivePath.bytes(entry.domain, entry.path)
        }
        guard var line = try base?.line(of: path), line.kind == ManifestLine.Kind(entry.kind), line.kind != .hardLink
        else { return false }
        let header = try judging(self.path) { () throws(BackupFlaw) in
            try TarEntry(entry, at: path, given: try approach(entry, path))
        }
        guard header.digest == line.metadata else { return false }
        if case .file(let content) = entry.kind {
            let found = content.length == 0 ? ManifestLine.digestOfNothing : try digest()
            guard let found, found == line.content else { return false }
        }
        enter(entry)
        line.isHere = false
        let kept = line
        try writing { () throws(SystemError) in try output.append(.line(kept)) }
        return true
    }
}
