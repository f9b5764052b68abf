// Opening Manifest.db of a backup: it is verified against its digest, and decrypted.

import DataProtection
import HashFunctions
import Platform
import SandboxModel

extension BackupDirectory {
    static let database: FileName = "Manifest.db"
    /// The table of files before iOS 10.2.
    private static let oldDatabase: FileName = "Manifest.mbdb"
    /// The directory for a decrypted copy. It is on disk, as an iPhone's Manifest.db has some hundred megabytes.
    private static let scratch = "/var/tmp"
    private static let databaseLog: FileName = "Manifest.db-wal"
    private static let databaseJournal: FileName = "Manifest.db-journal"
    /// The beginning of a rollback journal that is not applied (SQLite, Database File Format, 3); one that is applied
    /// begins with zeros.
    private static let journalMagic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

    /// The beginning of every SQLite database (SQLite, Database File Format, 1.3.1), with the zero at its end.
    private static let databaseMagic = Array("SQLite format 3\0".utf8)
    /// The smallest page of a database in bytes: the length of a database is a multiple of it.
    private static let smallestPage: Int64 = 512

    /// Whether Manifest.db is a database in the clear.
    /// - Throws: ``Complaint`` with the host's error.
    static func hasClearDatabase(_ root: borrowing Descriptor, _ path: String) throws(Complaint) -> Bool {
        do throws(SystemError) {
            guard let found = try openFile(database, in: root) else { return false }
            let buffer = PageBuffer(count: databaseMagic.count)
            let count = try found.file.descriptor.read(into: buffer, count: databaseMagic.count, from: 0)
            return buffer.bytes(0, count: count) == databaseMagic
        } catch {
            throw Complaint(error, doing: "cannot read \(path)/Manifest.db")
        }
    }

    /// Opens the table of files.
    /// - Throws: ``Complaint`` of kind `invalidBackup` if it is missing, in use or damaged, or with the host's error.
    func files() throws(Complaint) -> FileTableReader {
        let reading = "cannot read \(path)/Manifest.db"
        let found = try Complaint.wrap(reading) { () throws(SystemError) in
            try BackupDirectory.openFile(BackupDirectory.database, in: root)
        }
        guard let found else {
            let isOld = try Complaint.wrap(reading) { () throws(SystemError) in
                try root.exists(BackupDirectory.oldDatabase)
            }
            guard isOld else { throw damaged("it has no Manifest.db") }
            throw Complaint(
                .invalidBackup,
                "\(path) was made of a device before iOS 10.2 (it has a Manifest.mbdb); make a new backup of it")
        }
        let unfinished = try Complaint.wrap(reading) { () throws(SystemError) in try unfinishedChange() }
        if let unfinished {
            throw damaged(
                "a \(unfinished.text) lies beside its Manifest.db, which some program has open or left unfinished")
        }
        let buffer = PageBuffer(count: ContentWriter.bufferSize)
        if let expected = isDecryptedCopy ? manifest.clearDatabaseDigest : manifest.databaseDigest {
            // Tools may leave the cipher's padding at the end of what they have decrypted.
            let length = isDecryptedCopy ? found.length - found.length % BackupDirectory.smallestPage : found.length
            let digest = try digest(of: found.file.descriptor, length: length, buffer: buffer)
            guard digest == expected else { throw damaged("its Manifest.db is not the one that was written") }
        }
        guard let keys, let key = manifest.key else {
            let absolute = try Complaint.wrap(reading) { () throws(SystemError) in try HostPath.absolute(path) }
            return try open(absolute + "/Manifest.db", length: found.length, sortsInMemory: false)
        }
        let copy = try decrypt(found, key: (key, keys), buffer: buffer)
        // SQLite has the file open when this returns, and the copy's name is removed.
        return try open(copy.path, length: found.length, sortsInMemory: true)
    }

    /// The log or journal beside the database, if it has changes that are not applied: some program has the database
    /// open, or was killed.
    private func unfinishedChange() throws(SystemError) -> FileName? {
        if let log = try BackupDirectory.openFile(BackupDirectory.databaseLog, in: root), log.length > 0 {
            return BackupDirectory.databaseLog
        }
        guard let journal = try BackupDirectory.openFile(BackupDirectory.databaseJournal, in: root) else { return nil }
        let magic = BackupDirectory.journalMagic
        let buffer = PageBuffer(count: magic.count)
        let count = try journal.file.descriptor.read(into: buffer, count: magic.count, from: 0)
        return buffer.bytes(0, count: count) == magic ? BackupDirectory.databaseJournal : nil
    }

    /// Opens the database in the clear.
    private func open(_ path: String, length: Int64, sortsInMemory: Bool) throws(Complaint) -> FileTableReader {
        try fromDatabase { () throws(DatabaseFault) in
            try FileTableReader(
                path, length: length, inOrderOfWriting: manifest.isOwn, sortsInMemory: sortsInMemory)
        }
    }

    /// Decrypts the database into a temporary file.
    /// - Returns: the file, which only this user can read. Its name is removed with the value.
    private func decrypt(
        _ found: (file: SharedDescriptor, length: Int64), key: (wrapped: [UInt8], keys: BackupKeys), buffer: PageBuffer
    ) throws(Complaint) -> UnfinishedFile {
        let writing = "cannot write a copy of Manifest.db to \(BackupDirectory.scratch)"
        let copy = try Complaint.wrap(writing) { () throws(SystemError) in
            try UnfinishedFile(in: BackupDirectory.scratch)
        }
        do throws(ContentReader.Failure) {
            let content = try ContentReader(found.file, storedLength: found.length, key: key, buffer: buffer)
            try content.read(try content.dataRanges(), digest: nil, buffer: buffer) {
                (bytes, offset) throws(Complaint) in
                do throws(SystemError) {
                    try copy.file.descriptor.write(bytes, to: offset)
                } catch {
                    throw Complaint(error, doing: writing)
                }
            }
        } catch {
            throw complaint(error, about: "its Manifest.db")
        }
        return copy
    }

    /// SHA-256 of the database as it is stored.
    private func digest(
        of file: borrowing Descriptor, length: Int64, buffer: PageBuffer
    ) throws(Complaint) -> [UInt8] {
        do throws(SystemError) {
            return try MessageDigest.ofFile(file, length: length, buffer: buffer)
        } catch {
            throw Complaint(error, doing: "cannot read \(path)/Manifest.db")
        }
    }

    // MARK: Complaints

    /// Runs calls of SQLite, and throws their fault as a complaint about the backup.
    /// - Throws: ``Complaint`` of kind `invalidBackup` for a damaged database, `badRequest` for a path above SQLite's
    ///   limit, or with the host's error.
    func fromDatabase<Result>(_ body: () throws(DatabaseFault) -> Result) throws(Complaint) -> Result {
        do throws(DatabaseFault) {
            return try body()
        } catch {
            switch error {
            case .damaged, .duplicate: throw damaged("its Manifest.db is damaged")
            case .host(let error): throw Complaint(error, doing: "cannot read \(path)/Manifest.db")
            case .pathTooLong:
                throw Complaint(
                    .badRequest, "SQLite cannot read \(path)/Manifest.db: the path is too long; move the backup")
            case .other(let code): throw Complaint(.unexpected, "cannot read \(path)/Manifest.db: SQLite error \(code)")
            }
        }
    }

    /// - Parameter what: the damaged part, for people.
    func complaint(_ failure: ContentReader.Failure, about what: String) -> Complaint {
        switch failure {
        case .host(let error): Complaint(error, doing: "cannot read \(path)")
        case .damaged: damaged("\(what) is damaged")
        case .complaint(let complaint): complaint
        }
    }
}

extension MessageDigest {
    /// SHA-256 of a file.
    /// - Throws: EIO if the file has become shorter.
    static func ofFile(
        _ file: borrowing Descriptor, length: Int64, buffer: PageBuffer
    ) throws(SystemError) -> [UInt8] {
        var digest = MessageDigest(.sha256)
        var position: Int64 = 0
        while position < length {
            let count = Int(min(length - position, Int64(buffer.count)))
            let got = try file.read(into: buffer, count: count, from: position)
            guard got == count else { throw .inputOutput }
            digest.update(buffer, at: 0, count: count)
            position += Int64(count)
        }
        return digest.finish()
    }
}
