// The protocols of writing and reading a backup in any format.

public import SandboxModel

/// A backup that is being written. Nothing exists under its final name before ``finish()``, and a sink that is released
/// without it leaves nothing behind.
///
/// Entries come by domain, then in the order of a walk: a directory before its content, which is sorted by the bytes of
/// the name. So equal content gives equal backups, and two backups can be compared by reading both in order.
public protocol BackupSink {
    /// Begins an entry, and ends the one before.
    mutating func begin(_ entry: BackupEntry) throws(Complaint)

    /// Writes content of the current entry: all data ranges of a plain file, in ascending order, or all of a sealed
    /// file. Empty bytes skip the hole before the offset. Long holes are skipped in steps, as hashing them takes time
    /// and the caller may cancel.
    mutating func write(_ bytes: borrowing RawSpan, at offset: Int64) throws(Complaint)

    /// Whether the earlier backup that this one continues has an equal entry with equal content. The sink then takes
    /// the entry from there, and ``begin(_:)`` is not called for it.
    ///
    /// Called for every entry of a backup with `--since`, in the order of the walk, and never without.
    ///
    /// - Parameters:
    ///   - goOn: called from time to time; false ends the call with ``Complaint/cancelled``.
    ///   - digest: SHA-256 of the content, holes as zeros. Reads the file, so it is called only when needed.
    mutating func continues(
        _ entry: BackupEntry, goOn: () -> Bool, digest: () throws(Complaint) -> [UInt8]?
    ) throws(Complaint) -> Bool

    /// Completes the backup durably, and gives it its name.
    mutating func finish() throws(Complaint)
}

/// A backup that is being read, in the order in which it was written. Backups of other programs may come in any order
/// in which a directory precedes its content.
public protocol BackupSource {
    var apps: [BackupApp] { get }

    /// The groups whose containers may be in the backup, also those that no app of it names.
    var groups: [ContainerIdentifier] { get }

    /// The class keys of the device that made the backup, under its backup password and encoded; nil where the backup
    /// has none. Not checked.
    var passwordKeybag: [UInt8]? { get }

    /// The next entry of a wanted domain; nil after the last.
    ///
    /// - Throws: ``Complaint`` of kind `invalidBackup` for a backup that is cut short or damaged, or has a path that
    ///   leads out of its container.
    mutating func next() throws(Complaint) -> BackupEntry?

    /// Reads the content of the current entry in ascending order, without holes. Within long holes `body` gets empty
    /// bytes from time to time, so that it can cancel.
    mutating func read(
        _ body: (_ bytes: borrowing RawSpan, _ offset: Int64) throws(Complaint) -> Void
    ) throws(Complaint)

    /// Reads the rest, after the last entry, and checks that the backup is whole. Nothing that was read may be used
    /// before this has returned.
    mutating func verifyEnd() throws(Complaint)
}

extension BackupSource {
    public var groups: [ContainerIdentifier] { apps.flatMap(\.groups) }
    public var passwordKeybag: [UInt8]? { nil }
}
