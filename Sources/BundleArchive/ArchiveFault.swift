// Why an archive is not unpacked.

/// What is wrong with an archive, for people: one line without the archive's own name.
public struct ArchiveFault: Error, Hashable, Sendable {
    public let reason: String

    public init(_ reason: String) {
        self.reason = reason
    }
}
