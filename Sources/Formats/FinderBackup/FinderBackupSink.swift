// Writing a backup in the layout of Finder.

public import BackupModel
public import DataProtection
import HashFunctions
import Platform
public import SandboxModel

/// A backup in the layout of Finder and iTunes that is being written. One thread at a time may use it.
///
/// The directory has `Info.plist` and `Status.plist` for tools, `Manifest.plist` with apps and keybag, `Manifest.db`
/// with a row for each file (``FileRecord``), and the content of each file under its ``FileIdentifier``. In an
/// encrypted backup content and `Manifest.db` are encrypted, each with a key of its own that is wrapped by a class key
/// of the keybag; the password unlocks the keybag.
///
/// Until ``finish()`` it is in a directory beside its destination, whose name begins with a dot, and which is removed
/// with the sink.
public final class FinderBackupSink: BackupSink {
    /// The encryption of a backup.
    public struct Encryption: Sendable {
        public var password: [UInt8]
        /// The cost of a guess of the password. An incremental backup keeps that of the earlier one.
        public var iterations: BackupIterations

        public init(password: [UInt8], iterations: BackupIterations = .apple) {
            self.password = password
            self.iterations = iterations
        }
    }

    let destination: UnfinishedBackup
    let table: FileTableWriter
    /// The class keys; nil for a backup in the clear.
    let keys: BackupKeys?
    /// The earlier backup, if this one continues one.
    let base: BackupBase?
    private let origin: FinderBackupOrigin
    private let keybag: [UInt8]?
    /// The unencrypted Manifest.db of an encrypted backup.
    private let plainTable: UnfinishedFile?
    private let buffer = PageBuffer(count: ContentWriter.bufferSize)

    /// The file whose content is being written.
    private var current: (entry: BackupEntry, record: FileRecord, content: ContentWriter)?
    /// The last inode number given.
    private var lastInode: Int64 = 0

    /// Begins a backup.
    /// - Parameters:
    ///   - path: the directory of the backup, which may not exist, or has to be empty.
    ///   - encryption: nil for a backup in the clear.
    ///   - base: an earlier backup of this project, whose content is taken over where it has not changed. The new
    ///     backup does not need it afterwards. An encrypted backup is continued with the same password, and encrypted.
    /// - Throws: ``Complaint`` of kind `fileExists`, `badRequest`, `wrongPassword` and so on, or with the host's error.
    public init(
        path: String, of origin: FinderBackupOrigin, encryption: Encryption? = nil, since base: String? = nil
    ) throws(Complaint) {
        self.origin = origin
        // The base first: with a wrong password, nothing is written.
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
            // Created here with mode 0600; SQLite would allow others to read it.
            _ = try destination.create(BackupDirectory.database)
            table = try destination.fromDatabase { () throws(DatabaseFault) in
                try FileTableWriter(directory + "/" + BackupDirectory.database.text)
            }
        } else {
            let writing = "cannot write \(path)"
            let file = try Complaint.wrap(writing) { () throws(SystemError) in try UnfinishedFile(in: directory) }
            plainTable = file
            table = try destination.fromDatabase { () throws(DatabaseFault) in try FileTableWriter(file.path) }
            // SQLite needs the name only for opening.
            try Complaint.wrap(writing) { () throws(SystemError) in try file.removeName() }
        }
        try destination.write(BackupStatus(date: origin.date, manifestDigest: nil), to: BackupStatus.fileName)
    }

    /// Removes the unfinished backup. The deinitializer of an unfinished sink does the same.
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
                // A file without a class, from another filesystem, is of class D.
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
        // The current content uses the buffer.
        try end()
        guard let found = try base.match(entry, buffer, goOn: goOn, digest: digest) else { return false }
        if let identifier = found.content { try destination.take(identifier, from: base.directory, goOn: goOn) }
        try add(entry, found.record)
        return true
    }

    /// Ends the current file, and writes its row.
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

    /// Adds a further name of a file: with the same content and key, and for other tools a file like any other.
    private func addLink(_ entry: BackupEntry, _ record: FileRecord, to first: [FileName]) throws(Complaint) {
        let source = FileIdentifier(domain: entry.domain.name, path: first.joined)
        let known = try destination.fromDatabase { () throws(DatabaseFault) in try table.record(of: source) }
        guard let known = known.flatMap(FileRecord.init(decoding:)), let addition = known.addition,
            addition.digest != nil
        else {
            throw Complaint(.unexpected, "\(entry.path.text.shown) is a link to a file that is not in the backup")
        }
        var record = record
        // Sealed content has no type under any name, so that tools skip it.
        record.mode = record.mode & 0o7777 | known.mode & ~0o7777
        (record.size, record.encryptionKey, record.inode) = (known.size, known.encryptionKey, known.inode)
        // Tools unwrap the key by the class of the row.
        record.protection = known.protection
        record.addition?.digest = addition.digest
        record.addition?.dataRanges = addition.dataRanges
        record.addition?.sealedBy = addition.sealedBy
        try destination.link(source, to: FileIdentifier(domain: entry.domain.name, path: entry.path.joined))
        try add(entry, record)
    }

    /// Writes the row of an entry.
    /// Attributes that would make the row too long go into the table `Properties`.
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
        try destination.fromDatabase { () throws(DatabaseFault) in
            // The digest of the table in the clear, which everybody can read, then lets nobody try guesses of its rows.
            if keys != nil { try table.addProperty(FinderBackupSink.saltKey, Entropy.bytes(32)) }
            try table.commit()
        }
        // Each list has the digest of what is written before it: Manifest.plist that of Manifest.db, Status.plist that
        // of Manifest.plist.
        let encryption = try encryptTable()
        let digest = try destination.digest(of: BackupDirectory.database, buffer: buffer)
        let manifest = try destination.write(
            ManifestList(origin, encryption: encryption, databaseDigest: digest), to: FinderManifest.fileName)
        try destination.write(BackupInformation(origin), to: BackupInformation.fileName)
        try destination.write(
            BackupStatus(date: origin.date, manifestDigest: HashFunction.sha256.digest(of: manifest)),
            to: BackupStatus.fileName)
        try destination.publish()
    }

    /// The key of random bytes in the table `Properties` of an encrypted backup.
    private static let saltKey = "appcontainer.salt"

    /// Encrypts Manifest.db, under class D as an iPhone does.
    /// - Returns: nil for a backup in the clear.
    private func encryptTable() throws(Complaint) -> ManifestList.DatabaseEncryption? {
        guard let keys, let keybag, let plainTable else { return nil }
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
            let digest = try content.finish(length: length)
            return ManifestList.DatabaseEncryption(keybag: keybag, key: wrapped, clearDigest: digest)
        } catch {
            throw destination.complaint(error)
        }
    }
}

extension BackupEntry.Kind {
    /// Bytes of content that a complete entry gives, without holes.
    fileprivate var given: Int64 {
        switch self {
        case .file(.plain(_, let data)): data.reduce(0) { $0 + Int64($1.count) }
        case .file(.sealed(let length, _)): length
        default: 0
        }
    }
}
