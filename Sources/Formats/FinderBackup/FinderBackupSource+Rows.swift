// The conversion of a row of Manifest.db to a backup's entry. Rows are untrusted input.

import BackupModel
import Glibc
import Platform
import SandboxModel

extension FinderBackupSource {
    /// The limit of a path in bytes; deep trees can have paths above PATH_MAX.
    private static let longestPath = 1 << 20
    /// The limit in backups of other programs. PATH_MAX of an iPhone is 1024.
    private static let longestForeignPath = 4096

    /// Converts a row, and opens the content of a file.
    /// - Returns: nil for a row that is skipped.
    /// - Throws: ``Complaint`` of kind `invalidBackup` for a row that contradicts itself or leads out of its container.
    func entry(_ row: FileRow) throws(Complaint) -> (entry: BackupEntry, file: OpenFile?)? {
        let domain = BackupDomain(name: row.domain)
        guard directory.manifest.isOwn || [1, 2, 4].contains(row.flags) else {
            unknownRows += 1
            return nil
        }
        let shown = (row.domain + "/" + String(decoding: row.path.prefix(200), as: UTF8.self)).shown
        guard let identifier = FileIdentifier(row.identifier), var record = FileRecord(decoding: row.record),
            (record.addition != nil) == directory.manifest.isOwn
        else { throw directory.damaged("what it says of \(shown) makes no sense") }
        let bytes = record.addition?.path ?? row.path
        let longest = isOwn ? FinderBackupSource.longestPath : FinderBackupSource.longestForeignPath
        guard !row.domain.isEmpty, bytes.count <= longest, let path = [FileName](joined: bytes) else {
            throw directory.damaged("the path \(shown) leads out of its container")
        }
        let isComplete = try directory.fromDatabase { () throws(DatabaseFault) in
            try files.complete(&record, identifier)
        }
        guard isComplete else { throw directory.damaged("the attributes of \(shown) are missing") }
        guard let (attributes, isExcluded) = record.hostAttributes() else {
            throw directory.damaged("\(shown) has an extended attribute that no app can have set")
        }
        // A tool that decrypts a backup may leave the keys, and may leave or change what Manifest.plist says.
        guard record.encryptionKey == nil || isEncrypted || isDecryptedCopy || !isOwn else {
            throw directory.damaged("\(shown) has a key, but the backup says that it is not encrypted")
        }
        var entry = BackupEntry(
            domain: domain, path: path, kind: .directory, permissions: mode_t(record.mode & 0o7777),
            owner: uid_t(truncatingIfNeeded: record.owner), group: gid_t(truncatingIfNeeded: record.group),
            modificationTime: timespec(
                tv_sec: Int(record.addition?.seconds ?? record.modified),
                tv_nsec: Int(record.addition?.nanoseconds ?? 0)),
            protection: try protection(record, flags: row.flags, shown), isExcluded: isExcluded,
            attributes: attributes)
        let type = mode_t(record.mode) & S_IFMT
        // Other programs may leave the type out (0). This project does so for sealed files, whose flags are 0 too.
        switch (row.flags, type) {
        case (2, S_IFDIR), (2, 0): return (entry, nil)
        case (4, S_IFLNK), (4, 0):
            guard let target = record.addition?.target ?? record.target.map({ Array($0.utf8) }), !target.isEmpty,
                !target.contains(0), target.count < Int(PATH_MAX)
            else { throw directory.damaged("the link \(shown) leads nowhere") }
            entry.kind = .symbolicLink(target)
            return (entry, nil)
        case (0, S_IFIFO): entry.kind = .fifo
        case (0, S_IFSOCK): entry.kind = .socket
        case (1, S_IFREG), (1, 0), (0, 0):
            let isSealed = record.addition?.sealedBy != nil
            guard isSealed == (row.flags == 0) else { fallthrough }
            let file = try open(identifier, record, path, shown)
            entry.kind = try kind(record, file, shown)
            return (entry, file)
        default: throw directory.damaged("what it says of \(shown) makes no sense")
        }
        return (entry, nil)
    }

    /// The kind of an entry that has content.
    private func kind(
        _ record: FileRecord, _ file: OpenFile?, _ shown: String
    ) throws(Complaint) -> BackupEntry.Kind {
        if let first = record.addition?.hardLinkOf {
            guard let first = [FileName](joined: first), !first.isEmpty else {
                throw directory.damaged("\(shown) is a name of a file outside its container")
            }
            return .hardLink(first)
        }
        if let keybag = record.addition?.sealedBy {
            return .file(.sealed(length: record.size, keybag: keybag))
        }
        return .file(.plain(length: file?.content.length ?? 0, data: file?.data ?? []))
    }

    /// The class of an entry; nil for a directory that has the standard class.
    private func protection(
        _ record: FileRecord, flags: Int64, _ shown: String
    ) throws(Complaint) -> ProtectionClass? {
        guard record.protection != 0 else { return nil }
        guard let protection = ProtectionClass(record: record.protection) else {
            // Only a file's class matters for reading.
            guard flags == 1 || isOwn else { return nil }
            throw directory.damaged("\(shown) has the protection class \(record.protection), which nobody knows")
        }
        // On an iPhone every directory has a class; here the standard class is expressed by nil.
        return !isOwn && flags == 2 && protection == .standard ? nil : protection
    }

    /// Opens the content of a file, and compares its length with the record's.
    /// - Returns: nil for an empty file of an iPhone's backup, which may have no content.
    /// - Throws: ``Complaint`` of kind `invalidBackup`, in a backup of this project also for another length than
    ///   recorded, and in a decrypted copy of a phone's for that of the ciphertext.
    private func open(
        _ identifier: FileIdentifier, _ record: FileRecord, _ path: [FileName], _ shown: String
    ) throws(Complaint) -> OpenFile? {
        let content: ContentReader
        let data: [Range<Int64>]
        do throws(ContentReader.Failure) {
            guard let opened = try reader(identifier, record) else { return nil }
            content = opened
            if record.addition?.sealedBy != nil {
                // Ciphertext is given as a whole, even if the host stores parts of it as holes.
                data = content.length > 0 ? [0..<content.length] : []
            } else {
                // The ranges of the record if the content is encrypted, else the host's own holes.
                let hasRanges = isEncrypted || isDecryptedCopy
                data = hasRanges && content.length == record.size ? record.data : try content.dataRanges()
            }
        } catch {
            throw directory.complaint(error, about: "the content of \(shown)")
        }
        if content.length != record.size {
            guard !isOwn else { throw directory.damaged("the content of \(shown) has another length than it had") }
            guard isEncrypted || record.encryptionKey == nil || !content.isPadded(from: record.size) else {
                throw directory.damaged("the content of \(shown) is as long as ciphertext: it is still encrypted")
            }
            otherLengths += 1
        }
        guard data.last?.upperBound ?? 0 <= content.length else {
            throw directory.damaged("what it says of \(shown) makes no sense")
        }
        return OpenFile(content: content, data: data, digest: record.addition?.digest, path: path)
    }

    /// A reader of the stored content of a file; nil for an empty file without any.
    private func reader(
        _ identifier: FileIdentifier, _ record: FileRecord
    ) throws(ContentReader.Failure) -> ContentReader? {
        let stored: (file: SharedDescriptor, length: Int64)?
        do throws(SystemError) {
            stored = try directory.stored(identifier)
        } catch {
            throw .host(error)
        }
        // An iPhone stores no content and no key of an empty file.
        let isEmpty = !isOwn && record.size == 0 && record.encryptionKey == nil
        guard let stored else {
            guard isEmpty else { throw .damaged }
            return nil
        }
        let key = directory.keys.flatMap { keys in record.encryptionKey.map { (wrapped: $0, keys: keys) } }
        guard !isEncrypted || key != nil || isEmpty && stored.length == 0 else { throw .damaged }
        return try ContentReader(stored.file, storedLength: stored.length, key: key, buffer: buffer)
    }
}

extension ProtectionClass {
    /// - Parameter number: the number of a class in iOS (xnu, sys/content_protection.h).
    fileprivate init?(record number: Int64) {
        switch number {
        case 1...4: self.init(rawValue: UInt8(number))
        // F: as D, with a key that iOS does not store.
        case 6: self = .none
        // NSFileProtectionCompleteWhenUserInactive, since iOS 17: readable for a while after a lock. A is the nearest.
        case 7: self = .complete
        default: return nil
        }
    }
}
