// Writing a Finder backup: entries go in one after the other, and the last call gives the whole its name.

public import BackupModel
public import DataProtection
public import Glibc
import HashFunctions
import Platform
public import SandboxModel

/// A backup in the layout of Finder and iTunes, that is being written. Not for two threads at once.
///
/// It grows in a directory beside the one that was asked for, whose name begins with a dot, and which goes with the sink
/// when ``finish()`` was not reached.
public final class FinderBackupSink: BackupSink {
    /// How a backup is encrypted.
    public struct Encryption: Sendable {
        public var password: [UInt8]
        /// What a guess of the password costs. A backup that continues another has that one's.
        public var iterations: BackupIterations

        public init(password: [UInt8], iterations: BackupIterations = .apple) {
            self.password = password
            self.iterations = iterations
        }
    }

    let destination: UnfinishedBackup
    let table: FileTableWriter
    let keys: BackupKeys?
    let base: BackupBase?
    private let apps: [BackupApp]
    private let device: FinderBackupDevice
    /// Since the beginning of 2001, as property lists have it.
    private let date: Double
    private let keybag: [UInt8]?
    /// Manifest.db as long as it is not encrypted.
    private let plainTable: UnfinishedFile?
    private let buffer = PageBuffer(count: ContentWriter.bufferSize)

    /// The file whose content is being written.
    private var current: (entry: BackupEntry, record: FileRecord, content: ContentWriter)?
    private var lastInode: Int64 = 0

    /// 2001-01-01 in seconds since 1970.
    private static let referenceDate = 978_307_200.0

    /// - Parameters:
    ///   - path: what is not there yet, or an empty directory.
    ///   - encryption: nil for a backup that anybody can read.
    ///   - base: an earlier backup that was made here, whose content is taken where it did not change. The new one does
    ///     not need it afterwards. An encrypted one is continued with the same password, and only encrypted.
    public init(
        path: String, apps: [BackupApp], device: FinderBackupDevice, date: timespec, encryption: Encryption? = nil,
        since base: String? = nil
    ) throws(Complaint) {
        (self.apps, self.device) = (apps, device)
        self.date = Double(date.tv_sec) + Double(date.tv_nsec) / 1e9 - FinderBackupSink.referenceDate
        // The base first: whoever gave a wrong password has made nothing yet.
        self.base = try base.map { path throws(Complaint) in
            try BackupBase(path, password: encryption?.password)
        }
        if let continued = self.base?.directory {
            (keybag, keys) = (continued.manifest.keybag, continued.keys)
        } else if let encryption {
            let made = BackupKeybag.create(password: encryption.password, iterations: encryption.iterations)
            (keybag, keys) = (made.0.encoded, made.1)
        } else {
            (keybag, keys) = (nil, nil)
        }
        destination = try UnfinishedBackup(path)
        let directory = destination.temporaryPath
        if keys == nil {
            plainTable = nil
            // Made here, because SQLite would let others read it.
            _ = try destination.create(BackupDirectory.database)
            table = try destination.fromDatabase { () throws(DatabaseFault) in
                try FileTableWriter(directory + "/" + BackupDirectory.database.text)
            }
        } else {
            let writing = "cannot write \(path)"
            let file = try Complaint.wrap(writing) { () throws(SystemError) in try UnfinishedFile(in: directory) }
            plainTable = file
            table = try destination.fromDatabase { () throws(DatabaseFault) in try FileTableWriter(file.path) }
            // SQLite wants a name only to open it.
            try Complaint.wrap(writing) { () throws(SystemError) in try file.removeName() }
        }
        try destination.write(BackupStatus(date: self.date, manifestDigest: nil), to: BackupStatus.fileName)
    }

    /// Gives the backup up: nothing of it stays. A sink that ends without ``finish()`` does the same.
    public func abandon() {
        current = nil
        destination.remove()
    }

    // MARK: Entries

    public func begin(_ entry: BackupEntry) throws(Complaint) {
        try end()
        var record = FileRecord(entry)
        switch entry.kind {
        case .file:
            let identifier = FileIdentifier(domain: entry.domain.name, path: entry.path.joined)
            var cipher: BackupCipher?
            if let keys {
                // A directory's class says nothing of a file; what has no class is everybody's, as class D.
                let number = UInt32((entry.protection ?? .none).rawValue)
                guard let made = keys.encryption(class: number) else {
                    throw Complaint(.unexpected, "the keybag of \(destination.path) has no class \(number)")
                }
                (cipher, record.encryptionKey) = (made.cipher, made.wrappedKey)
            }
            let file = try destination.create(identifier)
            current = (entry, record, ContentWriter(file, cipher: cipher, buffer: buffer))
        case .hardLink(let first):
            try addLink(entry, record, to: first)
        default:
            try add(entry, record)
        }
    }

    public func write(_ bytes: borrowing RawSpan, at offset: Int64) throws(Complaint) {
        guard let content = current?.content else {
            throw Complaint(.unexpected, "content for \(destination.path) that belongs to no file")
        }
        do throws(SystemError) {
            try content.write(bytes, at: offset)
        } catch {
            throw destination.complaint(error)
        }
    }

    public func continues(
        _ entry: BackupEntry, goOn: () -> Bool, digest: () throws(Complaint) -> [UInt8]?
    ) throws(Complaint) -> Bool {
        guard let base else { return false }
        // The buffer is free then.
        try end()
        guard let found = try base.match(entry, buffer, goOn: goOn, digest: digest) else { return false }
        if let identifier = found.content { try destination.take(identifier, from: base.directory, goOn: goOn) }
        try add(entry, found.record)
        return true
    }

    /// Writes the row of the file that was begun last.
    private func end() throws(Complaint) {
        guard let (entry, record, content) = current else { return }
        current = nil
        var finished = record
        do throws(SystemError) {
            finished.addition?.digest = try content.finish(length: record.size)
        } catch {
            throw destination.complaint(error)
        }
        guard content.given == entry.kind.given else {
            throw Complaint(.unexpected, "\(entry.path.text.shown) was given to \(destination.path) in part")
        }
        try add(entry, finished)
    }

    /// A further name of a file: the same content, the same key, and for other tools a file like any other.
    private func addLink(_ entry: BackupEntry, _ record: FileRecord, to first: [FileName]) throws(Complaint) {
        let source = FileIdentifier(domain: entry.domain.name, path: first.joined)
        let known = try destination.fromDatabase { () throws(DatabaseFault) in try table.record(of: source) }
        guard let known = known.flatMap(FileRecord.init(decoding:)), let addition = known.addition,
            addition.digest != nil
        else {
            throw Complaint(.unexpected, "\(entry.path.text.shown) is a link to a file that is not in the backup")
        }
        var record = record
        // Content that tools are to pass over stays so under every name.
        record.mode = record.mode & 0o7777 | known.mode & ~0o7777
        (record.size, record.encryptionKey, record.inode) = (known.size, known.encryptionKey, known.inode)
        // A tool unwraps the key by the class that stands in the row.
        record.protection = known.protection
        record.addition?.digest = addition.digest
        record.addition?.dataRanges = addition.dataRanges
        record.addition?.sealedBy = addition.sealedBy
        try destination.link(source, to: FileIdentifier(domain: entry.domain.name, path: entry.path.joined))
        try add(entry, record)
    }

    private func add(_ entry: BackupEntry, _ record: FileRecord) throws(Complaint) {
        var record = record
        if record.inode == 0 {
            lastInode += 1
            record.inode = lastInode
        }
        let path = entry.path.joined
        let identifier = FileIdentifier(domain: entry.domain.name, path: path)
        let text = String(decoding: path, as: UTF8.self)
        if Array(text.utf8) != path { record.addition?.path = path }
        var encoded = record.encoded(path: text, flags: record.flags)
        var apart: [UInt8]?
        if encoded.count > FileRecord.largestRow {
            apart = record.moveAttributesApart()
            encoded = record.encoded(path: text, flags: record.flags)
        }
        let row = FileRow(
            identifier: Array(identifier.text.utf8), domain: entry.domain.name, path: Array(text.utf8),
            flags: record.flags, record: encoded)
        try destination.fromDatabase { () throws(DatabaseFault) in
            try table.add(row)
            if let apart { try table.addProperty(FileRecord.attributesKey(identifier), apart) }
        }
    }

    // MARK: The end

    public func finish() throws(Complaint) {
        try end()
        try destination.fromDatabase { () throws(DatabaseFault) in try table.commit() }
        let key = try encryptTable()
        let digest = try destination.digest(of: BackupDirectory.database, buffer: buffer)
        let manifest = try destination.write(
            ManifestList(apps: apps, device: device, date: date, keybag: keybag, key: key, databaseDigest: digest),
            to: Manifest.fileName)
        try destination.write(
            BackupInformation(apps: apps, device: device, date: date), to: BackupInformation.fileName)
        try destination.write(
            BackupStatus(date: date, manifestDigest: HashFunction.sha256.digest(of: manifest)),
            to: BackupStatus.fileName)
        try destination.publish()
    }

    /// - Returns: the key that the table is encrypted with, wrapped; nil where nothing is.
    private func encryptTable() throws(Complaint) -> [UInt8]? {
        guard let keys, let plainTable else { return nil }
        // A phone's is under class D as well.
        guard let (cipher, wrapped) = keys.encryption(class: UInt32(ProtectionClass.none.rawValue)) else {
            throw Complaint(.unexpected, "the keybag of \(destination.path) has no key for Manifest.db")
        }
        let target = try destination.create(BackupDirectory.database)
        let source = PageBuffer(count: ContentWriter.bufferSize)
        let content = ContentWriter(target, cipher: cipher, buffer: buffer)
        do throws(SystemError) {
            let length = try plainTable.file.descriptor.status().size
            var position: Int64 = 0
            while position < length {
                let count = try plainTable.file.descriptor.read(into: source, count: source.count, from: position)
                guard count > 0 else { throw .inputOutput }
                try source.withBytes(0, count: count) { bytes throws(SystemError) in
                    try content.write(bytes, at: position)
                }
                position += Int64(count)
            }
            _ = try content.finish(length: length)
        } catch {
            throw destination.complaint(error)
        }
        return wrapped
    }
}

extension BackupEntry.Kind {
    /// How many bytes of content come with it.
    fileprivate var given: Int64 {
        switch self {
        case .file(.plain(_, let data)): data.reduce(0) { $0 + Int64($1.count) }
        case .file(.sealed(let length, _)): length
        default: 0
        }
    }
}
