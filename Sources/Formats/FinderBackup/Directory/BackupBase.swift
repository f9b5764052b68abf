// The earlier backup whose unchanged files a new backup takes over.

import BackupModel
import DataProtection
import Platform
import SandboxModel

/// An earlier backup, in which unchanged entries are looked up.
final class BackupBase {
    let directory: BackupDirectory
    private let files: FileTableReader

    /// Opens an earlier backup.
    /// - Parameter password: the password of both backups; nil if neither is encrypted.
    /// - Throws: ``Complaint`` of kind `invalidBackup` or `badRequest` for a backup that cannot be continued.
    init(_ path: String, password: [UInt8]?) throws(Complaint) {
        directory = try BackupDirectory(path, password: password)
        guard directory.manifest.isOwn else {
            throw Complaint(
                .invalidBackup, "\(path) was not made by appcontainer and cannot be continued; make a full backup")
        }
        guard !directory.isDecryptedCopy else {
            throw Complaint(
                .badRequest, "\(path) is a decrypted copy of a backup and cannot be continued; make a full backup")
        }
        guard directory.manifest.isEncrypted == (password != nil) else {
            throw Complaint(
                .badRequest, "\(path) is not encrypted and cannot be continued by one that is; make a full backup")
        }
        files = try directory.files()
    }

    /// Looks up an entry that is unchanged. Its stored content is read and verified, so that the new backup is whole
    /// even if the earlier one is damaged.
    /// - Returns: the record, and the identifier of the content to take over; nil if anything differs.
    func match(
        _ entry: BackupEntry, _ buffer: PageBuffer, goOn: () -> Bool, digest: () throws(Complaint) -> [UInt8]?
    ) throws(Complaint) -> (record: FileRecord, content: FileIdentifier?)? {
        // A hard link needs the record of its first name in the new backup.
        if case .hardLink = entry.kind { return nil }
        let identifier = FileIdentifier(domain: entry.domain.name, path: entry.path.joined)
        guard var known = try record(of: identifier) else { return nil }
        guard known.addition?.hardLinkOf == nil else { return nil }
        // Both are set when a row is written, so a new record has neither.
        known.inode = 0
        known.addition?.path = nil
        // Fields that only a written record has.
        var expected = FileRecord(entry)
        expected.encryptionKey = known.encryptionKey
        expected.addition?.digest = known.addition?.digest
        expected.addition?.dataRanges = known.addition?.dataRanges
        guard known == expected else { return nil }
        guard case .file = entry.kind else { return (known, nil) }
        // The cheap comparisons come first: `digest` reads the whole file.
        guard let stored = try stored(identifier), stored.length == storedLength(known.size),
            let wanted = known.addition?.digest, try digest() == wanted,
            try isIntact(stored, known.encryptionKey, wanted, buffer, goOn)
        else { return nil }
        return (known, identifier)
    }

    /// The complete record of a file; nil if there is none.
    private func record(of identifier: FileIdentifier) throws(Complaint) -> FileRecord? {
        let bytes = try directory.fromDatabase { () throws(DatabaseFault) in try files.record(of: identifier) }
        guard let bytes else { return nil }
        guard var record = FileRecord(decoding: bytes) else { throw directory.damaged("its Manifest.db is damaged") }
        try directory.fromDatabase { () throws(DatabaseFault) in
            guard try files.complete(&record, identifier) else { throw .damaged }
        }
        return record
    }

    private typealias Stored = (file: SharedDescriptor, length: Int64)

    /// Whether stored content has its digest.
    /// - Throws: ``Complaint/cancelled`` when `goOn` returns false.
    private func isIntact(
        _ stored: Stored, _ key: [UInt8]?, _ digest: [UInt8], _ buffer: PageBuffer, _ goOn: () -> Bool
    ) throws(Complaint) -> Bool {
        let key = directory.keys.flatMap { keys in key.map { (wrapped: $0, keys: keys) } }
        do throws(ContentReader.Failure) {
            let reader = try ContentReader(stored.file, storedLength: stored.length, key: key, buffer: buffer)
            try reader.read(try reader.dataRanges(), digest: digest, buffer: buffer) { (_, _) throws(Complaint) in
                guard goOn() else { throw Complaint.cancelled }
            }
            return true
        } catch {
            if case .complaint(let complaint) = error { throw complaint }
            return false
        }
    }

    /// The stored content of a file; nil if there is none.
    /// - Throws: ``Complaint`` with the host's error.
    private func stored(_ identifier: FileIdentifier) throws(Complaint) -> Stored? {
        do throws(SystemError) {
            return try directory.stored(identifier)
        } catch {
            throw Complaint(error, doing: "cannot read \(directory.path)")
        }
    }

    /// The stored bytes of content of a length: encryption adds padding of 1 to 16 bytes.
    private func storedLength(_ length: Int64) -> Int64 {
        let block = Int64(BackupCipher.blockLength)
        return directory.manifest.isEncrypted ? (length / block + 1) * block : length
    }
}
