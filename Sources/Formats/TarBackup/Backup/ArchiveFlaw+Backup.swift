// Flaws of the archives of backups, for people.

import SandboxModel
import TarFormat

extension ArchiveFlaw {
    /// The content of a path contradicts the manifest, or the format of an entry.
    static func altered(_ path: some Collection<UInt8>) -> ArchiveFlaw {
        ArchiveFlaw("was altered: \(path.shown) does not agree with its manifest; use another copy of it")
    }

    static let notATar = ArchiveFlaw("is not a tar archive; name a file that `appcontainer backup` wrote")
    static let foreign = ArchiveFlaw("is no backup made by appcontainer; name a file that `appcontainer backup` wrote")

    /// - Parameter name: the name of the archive, as messages show it.
    func complaint(about name: String) -> Complaint {
        ArchiveOrigin.backup(name).complaint(self)
    }
}

extension ArchiveOrigin {
    static func backup(_ name: String) -> ArchiveOrigin {
        ArchiveOrigin(name, kind: .invalidBackup, foreign: .notATar)
    }
}

/// Runs a check of a part of an archive, and throws its flaw as a complaint about the file.
func complaining<Result>(
    about name: String, _ body: () throws(ArchiveFlaw) -> Result
) throws(Complaint) -> Result {
    try ArchiveOrigin.backup(name).checking(body)
}
