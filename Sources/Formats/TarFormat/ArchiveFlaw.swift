// Flaws of archives, for people.

public import SandboxModel

/// The flaw of an archive, or of an entry that an archive cannot hold.
public struct ArchiveFlaw: Error, Hashable {
    /// The end of a line that begins with the file's name: "has …".
    public let words: String

    public init(_ words: String) {
        self.words = words
    }

    public static let cutShort = ArchiveFlaw("is cut short; use another copy of it")
}

/// The file that an archive is read from, for complaints about it.
public struct ArchiveOrigin: Hashable, Sendable {
    /// The file's name, as messages show it.
    public let name: String
    /// The kind of a complaint about a flaw.
    let kind: Complaint.Kind
    /// The flaw of a file of another format.
    public let foreign: ArchiveFlaw

    public init(_ name: String, kind: Complaint.Kind, foreign: ArchiveFlaw) {
        (self.name, self.kind, self.foreign) = (name, kind, foreign)
    }

    public func complaint(_ flaw: ArchiveFlaw) -> Complaint {
        Complaint(kind, "\(name) \(flaw.words)")
    }

    /// Runs a check of a part of the archive, and throws its flaw as a complaint.
    public func checking<Result>(_ body: () throws(ArchiveFlaw) -> Result) throws(Complaint) -> Result {
        do throws(ArchiveFlaw) {
            return try body()
        } catch {
            throw complaint(error)
        }
    }
}
