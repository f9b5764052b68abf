// The chain of an incremental backup and the backups that it continues.

import BackupModel
import Glibc
import Platform
import SandboxModel
import TarFormat

/// The chain of backups, linked by file name and by the digest of the manifest.
enum TarChain {
    /// The limit of a chain: backups are untrusted, and every one is opened.
    static let longest = 32

    /// Opens a backup and all backups that it continues, the named one first.
    /// - Parameter base: the file of the backup that it continues; nil to look where the backup says.
    /// - Throws: ``Complaint`` of kind `notFound` or `invalidBackup`.
    static func open(_ path: String, base: String? = nil, scratch: String) throws(Complaint) -> [TarArchive] {
        var archives = [try TarArchive(path, scratch: scratch)]
        var explicit = base
        while let last = archives.last, let wanted = last.description.base {
            guard archives.count < longest else {
                throw last.flaw(ArchiveFlaw("continues more than \(longest) others; make a full backup"))
            }
            let place = explicit ?? RelativePath.resolve(wanted.file, beside: last.path)
            // It is the base of the named backup only; an earlier one says where its own is.
            explicit = nil
            let next: TarArchive
            do throws(Complaint) {
                next = try TarArchive(place, scratch: scratch)
            } catch {
                guard error.kind == .notFound else { throw error }
                throw Complaint(
                    .notFound, "\(last.name) continues \(place.utf8.shown), which is not there; put it back there")
            }
            guard wanted.identity == next.manifest.end.digest.hexadecimal else {
                throw last.flaw(
                    ArchiveFlaw("continues another backup than \(place.utf8.shown) is; put that in its place"))
            }
            archives.append(next)
        }
        return archives
    }
}
