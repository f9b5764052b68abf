// The two ends of a backup, whatever its form.

public import SandboxModel

/// A backup that is being written. Nothing under its final name exists before ``finish()``, and a sink that is given up
/// without it leaves nothing behind.
///
/// Entries come by domain, then in the order of a walk: a directory before what is in it, what is in it by name, byte by
/// byte. So the same content gives the same backup, and two backups can be read beside each other.
public protocol BackupSink {
    /// Begins an entry, and ends the one before.
    mutating func begin(_ entry: BackupEntry) throws(Complaint)

    /// Content of the entry that was begun last: of a plain file only what lies in its data ranges, in ascending order and
    /// all of it; of a sealed one all. Nothing at an offset says that the hole before it is passed over: it costs as much
    /// to hash as data does, and comes in steps so that it can be given up in the middle.
    mutating func write(_ bytes: borrowing RawSpan, at offset: Int64) throws(Complaint)

    /// Whether the earlier backup that this one continues has an entry just like this one, content included, so that
    /// it needs not be given again; then it is taken from there, and ``begin(_:)`` is not called for it.
    ///
    /// Asked in the order of the walk, for every entry of a backup with `--since`, and never without.
    ///
    /// - Parameters:
    ///   - goOn: asked from time to time where it takes long; answered with no, it ends with ``Complaint/cancelled``.
    ///   - digest: SHA-256 of the content, of a plain one with its holes as zeros; computed only when asked for, which
    ///     costs reading the file.
    mutating func continues(
        _ entry: BackupEntry, goOn: () -> Bool, digest: () throws(Complaint) -> [UInt8]?
    ) throws(Complaint) -> Bool

    /// Completes the backup, durably, and gives it its name.
    mutating func finish() throws(Complaint)
}

/// A backup that is being read, in the order in which it was written. A form that allows it gives entries of other
/// makers in any order in which a directory comes before what is in it.
public protocol BackupSource {
    var apps: [BackupApp] { get }

    /// The groups whose containers may be in it, also those of which nobody tells what apps share them.
    var groups: [ContainerIdentifier] { get }

    /// The next entry of a domain that is wanted; nil after the last.
    ///
    /// - Throws: ``Complaint`` of kind `invalidBackup` for one that is cut or damaged, or has a name that leads out.
    mutating func next() throws(Complaint) -> BackupEntry?

    /// Reads the content of the entry that ``next()`` returned last, in ascending order: of a plain file what is no hole,
    /// and within a long hole nothing from time to time, for whoever gives it up.
    mutating func read(
        _ body: (_ bytes: borrowing RawSpan, _ offset: Int64) throws(Complaint) -> Void
    ) throws(Complaint)

    /// Reads what is left and checks that the backup is whole, after the last entry. What was read is to be used only
    /// when this has returned.
    mutating func verifyEnd() throws(Complaint)
}

extension BackupSource {
    public var groups: [ContainerIdentifier] { apps.flatMap(\.groups) }
}
