// Reading the tables of Manifest.db.

/// Manifest.db of a backup that is being read. It is untrusted.
final class FileTableReader {
    private let database: Database
    private let firstDomain: Statement
    private let nextDomain: Statement
    private let lookUp: Statement
    private let property: Statement
    private let places: Statement
    private let row: Statement

    /// Opens the tables.
    /// - Parameters:
    ///   - length: bytes of the file.
    ///   - inOrderOfWriting: whether the rows were written in the order of a walk; if not, they are sorted.
    ///   - sortsInMemory: true for a decrypted database, no part of which may reach a disk.
    init(
        _ path: String, length: Int64, inOrderOfWriting: Bool, sortsInMemory: Bool
    ) throws(DatabaseFault) {
        database = try Database.open(path, length: length, sortsInMemory: sortsInMemory)
        // A view of this name could give endless rows.
        let schema = try database.prepare(
            "SELECT 1 FROM sqlite_schema WHERE name = 'Files' AND type = 'table' AND sql LIKE 'CREATE TABLE%'")
        guard try schema.step() else { throw .damaged }
        let unnamed = try database.prepare("SELECT 1 FROM Files WHERE domain IS NULL LIMIT 1")
        guard try !unnamed.step() else { throw .damaged }
        firstDomain = try database.prepare("SELECT min(domain) FROM Files")
        nextDomain = try database.prepare("SELECT min(domain) FROM Files WHERE domain > ?")
        lookUp = try database.prepare("SELECT file FROM Files WHERE fileID = ?")
        property = try database.prepare("SELECT value FROM Properties WHERE key = ?")
        // With `/` sorted before every other byte, a directory comes right before its content.
        let order = inOrderOfWriting ? "rowid" : "replace(relativePath, '/', char(0))"
        // Sorts row numbers only: with their records, the sort would take as much memory as the whole table.
        places = try database.prepare("SELECT rowid FROM Files WHERE domain = ? ORDER BY \(order)")
        row = try database.prepare("SELECT fileID, relativePath, flags, file FROM Files WHERE rowid = ?")
    }

    /// The domain after another one, in the order of their bytes; after nil the first.
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

    /// Begins to read the rows of a domain.
    func begin(_ domain: String) throws(DatabaseFault) {
        try places.bind([.text(Array(domain.utf8))])
    }

    /// The next row of the current domain; nil after the last.
    func next(of domain: String) throws(DatabaseFault) -> FileRow? {
        guard try places.step() else { return nil }
        try row.bind([places.column(0)])
        guard try row.step(), case .text(let identifier) = row.column(0), case .text(let path) = row.column(1),
            case .integer(let flags) = row.column(2), case .blob(let record) = row.column(3)
        else { throw .damaged }
        return FileRow(identifier: identifier, domain: domain, path: path, flags: flags, record: record)
    }

    /// The encoded record of a file; nil if there is none.
    func record(of identifier: FileIdentifier) throws(DatabaseFault) -> [UInt8]? {
        try lookUp.firstBlob(for: identifier.text)
    }

    /// Adds to a record the attributes that are in the table `Properties`.
    /// - Returns: false if they are missing.
    func complete(_ record: inout FileRecord, _ identifier: FileIdentifier) throws(DatabaseFault) -> Bool {
        guard record.addition?.hasAttributesApart == true else { return true }
        guard let apart = try property.firstBlob(for: FileRecord.attributesKey(identifier)) else { return false }
        return record.takeAttributes(from: apart)
    }
}
