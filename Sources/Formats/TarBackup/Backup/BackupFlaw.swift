// Why something is no backup, in words that go on after its name.

import SandboxModel

/// What is wrong with an archive, or with an entry that cannot be put into one.
struct BackupFlaw: Error, Hashable {
    /// One line, which goes on after the name of the file: "has …".
    let words: String

    init(_ words: String) {
        self.words = words
    }

    /// The bytes contradict what the manifest, or the form of an entry, says of them.
    static func altered(_ path: some Collection<UInt8>) -> BackupFlaw {
        BackupFlaw("was altered: \(path.shown) does not agree with its manifest; use another copy of it")
    }

    static let cutShort = BackupFlaw("is cut short; use another copy of it")
    static let notATar = BackupFlaw("is not a tar archive; name a file that `appcontainer backup` wrote")
    static let foreign = BackupFlaw("is no backup made by appcontainer; name a file that `appcontainer backup` wrote")

    func complaint(about name: String) -> Complaint {
        Complaint(.invalidBackup, "\(name) \(words)")
    }
}

/// Judges a part of an archive, and tells what is wrong with it as a complaint about the file.
func judging<Result>(
    _ name: String, _ body: () throws(BackupFlaw) -> Result
) throws(Complaint) -> Result {
    do throws(BackupFlaw) {
        return try body()
    } catch {
        throw error.complaint(about: name)
    }
}
