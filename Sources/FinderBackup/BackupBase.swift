// The earlier backup that a new one continues.

import BackupModel
import DataProtection
import Platform
import SandboxModel

/// Says of an entry whether it is in the earlier backup just as it is now.
final class BackupBase {
    let directory: BackupDirectory
    private let files: FileTableReader

    /// - Parameter password: of both backups; nil where neither is encrypted.
    init(_ path: String, password: [UInt8]?) throws(Complaint) {
        directory = try BackupDirectory(path, password: password)
        guard directory.manifest.isOwn else {
            throw Complaint(
                .invalidBackup, "\(path) was not made by appcontainer and cannot be continued; make a full backup")
        }
        guard directory.manifest.isEncrypted == (password != nil) else {
            throw Complaint(
                .badRequest, "\(path) is not encrypted and cannot be continued by one that is; make a full backup")
        }
        files = try directory.files()
    }

    /// - Returns: the entry's record and the content to take; nil where anything differs.
    func match(
        _ entry: BackupEntry, digest: () throws(Complaint) -> [UInt8]?
    ) throws(Complaint) -> (record: FileRecord, content: FileIdentifier?)? {
        // Whose content a further name has is known only in the new backup.
        if case .hardLink = entry.kind { return nil }
        let identifier = FileIdentifier(domain: entry.domain.name, path: entry.path.joined)
        guard var known = try record(of: identifier) else { return nil }
        guard known.addition?.hardLinkOf == nil else { return nil }
        known.inode = 0
        known.addition?.path = nil
        // What an entry does not know of itself.
        var expected = FileRecord(entry)
        expected.encryptionKey = known.encryptionKey
        expected.addition?.digest = known.addition?.digest
        expected.addition?.dataRanges = known.addition?.dataRanges
        guard known == expected else { return nil }
        guard case .file = entry.kind else { return (known, nil) }
        guard let stored = try stored(identifier), stored == storedLength(known.size),
            let wanted = known.addition?.digest, try digest() == wanted
        else { return nil }
        return (known, identifier)
    }

    private func record(of identifier: FileIdentifier) throws(Complaint) -> FileRecord? {
        let bytes = try directory.fromDatabase { () throws(DatabaseFault) in try files.record(of: identifier) }
        guard let bytes else { return nil }
        guard var record = FileRecord(decoding: bytes) else { throw directory.damaged("its Manifest.db is damaged") }
        try directory.fromDatabase { () throws(DatabaseFault) in
            guard try files.complete(&record, identifier) else { throw .damaged }
        }
        return record
    }

    private func stored(_ identifier: FileIdentifier) throws(Complaint) -> Int64? {
        do throws(SystemError) {
            return try directory.stored(identifier)?.length
        } catch {
            throw Complaint(error, doing: "cannot read \(directory.path)")
        }
    }

    /// What content takes in the backup: content that lost or won bytes since is not taken over.
    private func storedLength(_ length: Int64) -> Int64 {
        let block = Int64(BackupCipher.blockLength)
        return directory.manifest.isEncrypted ? (length / block + 1) * block : length
    }
}
