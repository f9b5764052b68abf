// The tables of Manifest.db: a row for each file, and properties.

/// A row of `Files`, of which nothing is believed yet.
struct FileRow {
    var identifier: [UInt8]
    var domain: String
    var path: [UInt8]
    var flags: Int64
    var record: [UInt8]
}

/// Manifest.db while it is written.
final class FileTableWriter {
    private let database: Database
    private let insertion: Statement
    private let propertyInsertion: Statement
    private let lookUp: Statement
    private var uncommitted = 0

    /// As many rows to a transaction: few enough for SQLite to hold what they change in memory.
    private static let batch = 1000

    /// - Parameter path: of a file that is empty.
    init(_ path: String) throws(DatabaseFault) {
        database = try Database.create(path)
        // The layout is Apple's, indices included: tools ask by domain and by path.
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

    /// - Throws: ``DatabaseFault/duplicate`` when the file is there already.
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

    func addProperty(_ key: String, _ value: [UInt8]) throws(DatabaseFault) {
        try propertyInsertion.run([.text(Array(key.utf8)), .blob(value)])
    }

    func record(of identifier: FileIdentifier) throws(DatabaseFault) -> [UInt8]? {
        try lookUp.firstBlob(for: identifier.text)
    }

    func commit() throws(DatabaseFault) {
        try database.execute("COMMIT")
    }
}

/// Manifest.db while it is read.
final class FileTableReader {
    private let database: Database
    private let firstDomain: Statement
    private let nextDomain: Statement
    private let lookUp: Statement
    private let property: Statement
    private let places: Statement
    private let row: Statement

    /// - Parameters:
    ///   - length: of the file.
    ///   - inOrderOfWriting: otherwise rows come in the order of a walk, for which they have to be sorted.
    ///   - sortsInMemory: where no name may get onto a disk.
    init(
        _ path: String, length: Int64, inOrderOfWriting: Bool, sortsInMemory: Bool
    ) throws(DatabaseFault) {
        database = try Database.open(path, length: length, sortsInMemory: sortsInMemory)
        // A view of this name could give rows without end.
        let schema = try database.prepare(
            "SELECT 1 FROM sqlite_schema WHERE name = 'Files' AND type = 'table' AND sql LIKE 'CREATE TABLE%'")
        guard try schema.step() else { throw .damaged }
        let unnamed = try database.prepare("SELECT 1 FROM Files WHERE domain IS NULL LIMIT 1")
        guard try !unnamed.step() else { throw .damaged }
        firstDomain = try database.prepare("SELECT min(domain) FROM Files")
        nextDomain = try database.prepare("SELECT min(domain) FROM Files WHERE domain > ?")
        lookUp = try database.prepare("SELECT file FROM Files WHERE fileID = ?")
        property = try database.prepare("SELECT value FROM Properties WHERE key = ?")
        // With `/` sorted before every other byte, a directory comes right before what is in it.
        let order = inOrderOfWriting ? "rowid" : "replace(relativePath, '/', char(0))"
        // Only where the rows are is sorted: with their records it would take as much memory as the whole table.
        places = try database.prepare("SELECT rowid FROM Files WHERE domain = ? ORDER BY \(order)")
        row = try database.prepare("SELECT fileID, relativePath, flags, file FROM Files WHERE rowid = ?")
    }

    /// The domain after another, in the order of their bytes; the first one after nil.
    func domain(after domain: String?) throws(DatabaseFault) -> String? {
        let statement = domain == nil ? firstDomain : nextDomain
        try statement.bind(domain.map { [.text(Array($0.utf8))] } ?? [])
        guard try statement.step() else { return nil }
        switch statement.column(0) {
        case .null: return nil
        case .text(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self), text != domain else { throw .damaged }
            return text
        default: throw .damaged
        }
    }

    func begin(_ domain: String) throws(DatabaseFault) {
        try places.bind([.text(Array(domain.utf8))])
    }

    /// The next row of the domain that was begun last; nil after its last.
    func next(of domain: String) throws(DatabaseFault) -> FileRow? {
        guard try places.step() else { return nil }
        try row.bind([places.column(0)])
        guard try row.step(), case .text(let identifier) = row.column(0), case .text(let path) = row.column(1),
            case .integer(let flags) = row.column(2), case .blob(let record) = row.column(3)
        else { throw .damaged }
        return FileRow(identifier: identifier, domain: domain, path: path, flags: flags, record: record)
    }

    func record(of identifier: FileIdentifier) throws(DatabaseFault) -> [UInt8]? {
        try lookUp.firstBlob(for: identifier.text)
    }

    /// Gives a record the attributes that its row had no room for.
    /// - Returns: false where they are missing.
    func complete(_ record: inout FileRecord, _ identifier: FileIdentifier) throws(DatabaseFault) -> Bool {
        guard record.addition?.hasAttributesApart == true else { return true }
        guard let apart = try property.firstBlob(for: FileRecord.attributesKey(identifier)) else { return false }
        return record.takeAttributes(from: apart)
    }
}

extension Statement {
    fileprivate func firstBlob(for key: String) throws(DatabaseFault) -> [UInt8]? {
        try bind([.text(Array(key.utf8))])
        guard try step() else { return nil }
        guard case .blob(let value) = column(0) else { throw .damaged }
        return value
    }
}
