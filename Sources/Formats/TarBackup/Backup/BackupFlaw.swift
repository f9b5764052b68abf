// Flaws of archives, for people.

import SandboxModel

/// The flaw of an archive, or of an entry that an archive cannot hold.
struct BackupFlaw: Error, Hashable {
    /// The end of a line that begins with the file's name: "has …".
    let words: String

    init(_ words: String) {
        self.words = words
    }

    /// The content of a path contradicts the manifest, or the format of an entry.
    static func altered(_ path: some Collection<UInt8>) -> BackupFlaw {
        BackupFlaw("was altered: \(path.shown) does not agree with its manifest; use another copy of it")
    }

    static let cutShort = BackupFlaw("is cut short; use another copy of it")
    static let notATar = BackupFlaw("is not a tar archive; name a file that `appcontainer backup` wrote")
    static let foreign = BackupFlaw("is no backup made by appcontainer; name a file that `appcontainer backup` wrote")

    /// - Parameter name: the name of the archive, as messages show it.
    func complaint(about name: String) -> Complaint {
        Complaint(.invalidBackup, "\(name) \(words)")
    }
}

/// Runs a check of a part of an archive, and throws its flaw as a complaint about the file.
func complaining<Result>(
    about name: String, _ body: () throws(BackupFlaw) -> Result
) throws(Complaint) -> Result {
    do throws(BackupFlaw) {
        return try body()
    } catch {
        throw error.complaint(about: name)
    }
}
