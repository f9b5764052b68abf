// The tables of Manifest.db: `Files` with a row for each file, and `Properties`.

/// A row of `Files`. When read, it is untrusted.
struct FileRow {
    /// `fileID`.
    var identifier: [UInt8]
    var domain: String
    /// `relativePath`.
    var path: [UInt8]
    /// 1 file, 2 directory, 4 symbolic link.
    var flags: Int64
    /// `file`: the keyed archive of an MBFile.
    var record: [UInt8]
}

/// Manifest.db of a backup that is being written.
final class FileTableWriter {
    private let database: Database
    private let insertion: Statement
    private let propertyInsertion: Statement
    private let lookUp: Statement
    private var uncommitted = 0

    /// Rows in a transaction, whose changes SQLite holds in memory.
    private static let batch = 1000

    /// Makes the tables.
    /// - Parameter path: the path of an empty file.
    init(_ path: String) throws(DatabaseFault) {
        database = try Database.create(path)
        // Apple's schema with its indices: tools query by domain and by path.
        for command in [
            "CREATE TABLE Files (fileID TEXT PRIMARY KEY, domain TEXT, relativePath TEXT, flags INTEGER, file BLOB)",
            "CREATE INDEX FilesDomainIdx ON Files(domain)",
            "CREATE INDEX FilesRelativePathIdx ON Files(relativePath)",
            "CREATE INDEX FilesFlagsIdx ON Files(flags)",
            "CREATE TABLE Properties (key TEXT PRIMARY KEY, value BLOB)",
        ] { try database.execute(command) }
        insertion = try database.prepare("INSERT INTO Files VALUES (?, ?, ?, ?, ?)")
        propertyInsertion = try database.prepare("INSERT INTO Properties VALUES (?, ?)")
        lookUp = try database.prepare("SELECT file FROM Files WHERE fileID = ?")
        try database.execute("BEGIN")
    }

    /// Adds a file.
    /// - Throws: ``DatabaseFault/duplicate`` if the identifier exists.
    func add(_ row: FileRow) throws(DatabaseFault) {
        try insertion.run([
            .text(row.identifier), .text(Array(row.domain.utf8)), .text(row.path), .integer(row.flags),
            .blob(row.record),
        ])
        uncommitted += 1
        guard uncommitted == FileTableWriter.batch else { return }
        try database.execute("COMMIT")
        try database.execute("BEGIN")
        uncommitted = 0
    }

    /// Adds a row of `Properties`.
    func addProperty(_ key: String, _ value: [UInt8]) throws(DatabaseFault) {
        try propertyInsertion.run([.text(Array(key.utf8)), .blob(value)])
    }

    /// The encoded record of a file that was added; nil if there is none.
    func record(of identifier: FileIdentifier) throws(DatabaseFault) -> [UInt8]? {
        try lookUp.firstBlob(for: identifier.text)
    }

    /// Ends the last transaction. Nothing may be added afterwards.
    /// - Throws: ``DatabaseFault/host(_:)`` with ENOSPC on a full host, as every function that adds a row.
    func commit() throws(DatabaseFault) {
        try database.execute("COMMIT")
    }
}

extension Statement {
    /// The first column of the first row for a key; nil if there is no row.
    func firstBlob(for key: String) throws(DatabaseFault) -> [UInt8]? {
        try bind([.text(Array(key.utf8))])
        guard try step() else { return nil }
        guard case .blob(let value) = column(0) else { throw .damaged }
        return value
    }
}
