// Reading a Finder backup, made by this project or of an iPhone.

public import BackupModel
import Platform
public import SandboxModel

/// A backup in the layout of Finder and iTunes since iOS 10.2 that is being read. One thread at a time may use it.
///
/// Backups of this project have digests, by which every changed byte is found. An iPhone's backup has none; it is
/// checked only for contradictions.
public final class FinderBackupSource: BackupSource {
    public let apps: [BackupApp]
    public let groups: [ContainerIdentifier]
    /// Whether the backup was made by this project.
    public var isOwn: Bool { directory.manifest.isOwn }
    /// Whether its content is encrypted; false for a decrypted copy.
    public var isEncrypted: Bool { directory.keys != nil }
    /// Whether it is a copy of an encrypted backup that a tool has decrypted.
    public var isDecryptedCopy: Bool { directory.isDecryptedCopy }
    public var passwordKeybag: [UInt8]? { directory.manifest.passwordKeybag }
    /// The number of files in an iPhone's backup that are longer or shorter than their records say: iOS writes record
    /// and content of a file in use at different times. Their stored content is given.
    public internal(set) var otherLengths = 0
    /// The number of rows of an iPhone's backup that are neither files, directories nor links, and are skipped.
    public internal(set) var unknownRows = 0

    let directory: BackupDirectory
    let files: FileTableReader
    private let domains: Set<BackupDomain>?
    let buffer = PageBuffer(count: ContentWriter.bufferSize)

    /// The current domain.
    private var domain: String?
    private var isEnded = false
    private var order = WalkOrder()
    /// The next entry, while missing directories above it are given.
    private var held: (entry: BackupEntry, file: OpenFile?)?
    private var current: OpenFile?

    /// The open content of an entry.
    struct OpenFile {
        let content: ContentReader
        /// The ranges that are not holes.
        let data: [Range<Int64>]
        /// SHA-256 of the content; nil in an iPhone's backup.
        let digest: [UInt8]?
        let path: [FileName]
    }

    /// Opens a backup.
    /// - Parameters:
    ///   - password: ignored if the backup is not encrypted.
    ///   - domains: the wanted domains; nil for all.
    /// - Throws: ``Complaint`` of kind `notFound`, `invalidBackup`, `newerBackup`, `passwordNeeded` or `wrongPassword`.
    public init(path: String, password: [UInt8]?, domains: Set<BackupDomain>? = nil) throws(Complaint) {
        directory = try BackupDirectory(path, password: password)
        self.domains = domains
        files = try directory.files()
        (apps, groups) = try FinderBackupSource.contents(directory, files)
    }

    /// The apps and groups that have a domain in the backup.
    private static func contents(
        _ directory: BackupDirectory, _ files: FileTableReader
    ) throws(Complaint) -> ([BackupApp], [ContainerIdentifier]) {
        var apps: [BackupApp] = []
        var groups: [ContainerIdentifier] = []
        var domain: String?
        while let next = try directory.fromDatabase({ () throws(DatabaseFault) in try files.domain(after: domain) }) {
            domain = next
            switch BackupDomain(name: next) {
            case .app(let identifier), .plugin(let identifier):
                guard var app = BackupApp(identifier: identifier, directory.manifest.applications[identifier.text])
                else { throw directory.damaged("what its Manifest.plist says of \(identifier) makes no sense") }
                if case .plugin = BackupDomain(name: next) { app.isExtension = true }
                apps.append(app)
            case .group(let identifier): groups.append(identifier)
            case .other: break
            }
        }
        return (apps, groups)
    }

    // MARK: Entries

    public func next() throws(Complaint) -> BackupEntry? {
        current = nil
        while true {
            if held == nil {
                guard let row = try nextRow() else { return nil }
                guard let found = try entry(row) else { continue }
                held = found
            }
            guard let (entry, file) = held else { return nil }
            switch order.step(to: entry.path, in: entry.domain) {
            case .inPlace:
                held = nil
                current = file
                order.advance(to: entry.path, in: entry.domain, isDirectory: entry.kind == .directory)
                return entry
            // Other programs leave out directories. They are given from the top down, before the entry in `held`.
            case .missing(let count) where !directory.manifest.isOwn:
                let path = Array(entry.path.prefix(count))
                order.advance(to: path, in: entry.domain, isDirectory: true)
                return BackupEntry(
                    domain: entry.domain, path: path, kind: .directory, permissions: 0o755, owner: entry.owner,
                    group: entry.group, modificationTime: entry.modificationTime, protection: nil, isExcluded: false,
                    attributes: [])
            case .missing: throw damaged(entry, "lies in no directory")
            case .repeated, .outOfOrder: throw damaged(entry, "is there twice, or not in its place")
            case .belowFile: throw damaged(entry, "lies in what is no directory")
            }
        }
    }

    /// The next row of a wanted domain.
    private func nextRow() throws(Complaint) -> FileRow? {
        guard !isEnded else { return nil }
        return try directory.fromDatabase { () throws(DatabaseFault) in
            while true {
                if let domain, isWanted(domain), let row = try files.next(of: domain) { return row }
                domain = try files.domain(after: domain)
                guard let domain else {
                    isEnded = true
                    return nil
                }
                if isWanted(domain) { try files.begin(domain) }
            }
        }
    }

    /// Whether the caller wants the entries of a domain.
    private func isWanted(_ domain: String) -> Bool {
        domains?.contains(BackupDomain(name: domain)) ?? true
    }

    /// A complaint about the place of an entry.
    private func damaged(_ entry: BackupEntry, _ what: String) -> Complaint {
        directory.damaged("\((entry.domain.name + "/" + entry.path.text).shown) \(what)")
    }

    // MARK: Content

    public func read(
        _ body: (_ bytes: borrowing RawSpan, _ offset: Int64) throws(Complaint) -> Void
    ) throws(Complaint) {
        guard let file = current else { return }
        current = nil
        do throws(ContentReader.Failure) {
            try file.content.read(file.data, digest: file.digest, buffer: buffer, body)
        } catch {
            throw directory.complaint(error, about: "the content of \(file.path.text.shown)")
        }
    }

    public func verifyEnd() throws(Complaint) {
        while try next() != nil {}
    }
}
