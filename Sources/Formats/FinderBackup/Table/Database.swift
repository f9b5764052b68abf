// SQLite. The module's only file that calls it.

import CSQLite
import Glibc
import Platform
import SandboxModel

/// Errors of SQLite.
enum DatabaseFault: Error, Hashable {
    /// The file is no database, is cut short or was changed.
    case damaged
    /// A row with this key exists.
    case duplicate
    case host(SystemError)
    /// The path exceeds SQLite's limit, which is below the host's.
    case pathTooLong
    /// Any other result code of SQLite.
    case other(Int32)
}

/// A database with one connection. One thread at a time may use it.
@safe final class Database {
    // Valid from init to deinit. Statements hold a reference to this object, so that none outlives it.
    @unsafe fileprivate let connection: OpaquePointer
    // Valid from init to deinit, which closes the connection first.
    @unsafe private let stepsLeft = UnsafeMutablePointer<Int>.allocate(capacity: 1)

    /// The limit of a value in bytes, above that of every real backup. SQLite refuses longer ones without reading them.
    private static let longestValue: Int32 = 4 << 20

    /// MAX_PATHNAME of SQLite's unix files.
    private static let longestPath = 511

    /// The limit of steps of SQLite's virtual machine for reading a database, many times that of a real one. A
    /// malicious schema or B-tree can give endless rows from a few bytes.
    private static let (stepsInAnyCase, stepsForEachByte, stepsForEachQuery) = (20_000_000, 16, 1000)
    private static let stepsBetweenChecks: Int32 = 1000
    /// The limit of the file's length in the computation of steps, which could overflow.
    private static let largestFile: Int64 = 1 << 50

    /// Makes a database in an empty file, without journal and synchronization: the caller synchronizes the file at the
    /// end, and the backup has a temporary name until then.
    static func create(_ path: String) throws(DatabaseFault) -> Database {
        guard path.utf8.count <= longestPath else { throw .pathTooLong }
        let database = try Database(path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        try database.execute("PRAGMA locking_mode=EXCLUSIVE")
        try database.execute("PRAGMA journal_mode=OFF")
        try database.execute("PRAGMA synchronous=OFF")
        // Temporary data, too, may not reach a disk in the clear.
        try database.execute("PRAGMA temp_store=MEMORY")
        return database
    }

    /// Opens an untrusted database for reading, as immutable: SQLite makes no files beside it, and reads no log there.
    /// - Parameters:
    ///   - length: bytes of the file, which limit the steps of reading it.
    ///   - sortsInMemory: true for a decrypted database, no part of which may reach a disk.
    static func open(_ path: String, length: Int64, sortsInMemory: Bool) throws(DatabaseFault) -> Database {
        guard path.utf8.count <= longestPath else { throw .pathTooLong }
        // A file name as a URI (SQLite, Uniform Resource Identifiers), in which other bytes are escaped.
        var name = "file:"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                name += "%" + [byte].hexadecimal
            }
        }
        let database = try Database(name + "?immutable=1", flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
        guard unsafe sqlite3_distrust(database.connection) == SQLITE_OK else { throw .other(SQLITE_MISUSE) }
        _ = unsafe sqlite3_limit(database.connection, SQLITE_LIMIT_LENGTH, longestValue)
        try database.execute("PRAGMA cell_size_check=ON")
        if sortsInMemory { try database.execute("PRAGMA temp_store=MEMORY") }
        database.limitSteps(to: stepsInAnyCase + Int(min(length, largestFile)) * stepsForEachByte)
        return database
    }

    /// Sets the number of steps that all statements together may take.
    private func limitSteps(to count: Int) {
        unsafe stepsLeft.pointee = count
        unsafe sqlite3_progress_handler(
            connection, Database.stepsBetweenChecks,
            { stepsLeft in
                // Valid as long as the connection is open, and used by its one thread only.
                let stepsLeft = unsafe stepsLeft!.assumingMemoryBound(to: Int.self)
                unsafe stepsLeft.pointee -= Int(Database.stepsBetweenChecks)
                return unsafe stepsLeft.pointee < 0 ? 1 : 0
            }, stepsLeft)
    }

    /// Adds the steps of a query by key, so that their number is not limited.
    fileprivate func addStepsForQuery() { unsafe stepsLeft.pointee += Database.stepsForEachQuery }

    private init(_ name: String, flags: Int32) throws(DatabaseFault) {
        var connection: OpaquePointer?
        let result = unsafe sqlite3_open_v2(name, &connection, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard let connection = unsafe connection else { throw .host(SystemError(code: ENOMEM)) }
        guard result == SQLITE_OK else {
            let fault = unsafe Database.fault(connection)
            unsafe sqlite3_close_v2(connection)
            throw fault
        }
        unsafe self.connection = connection
        unsafe stepsLeft.initialize(to: 0)
    }

    deinit {
        unsafe sqlite3_close_v2(connection)
        unsafe stepsLeft.deallocate()
    }

    /// Runs a command without parameters and rows.
    func execute(_ command: String) throws(DatabaseFault) {
        guard unsafe sqlite3_exec(connection, command, nil, nil, nil) == SQLITE_OK else { throw fault }
    }

    /// Compiles a statement, whose parameters are bound later.
    /// - Throws: ``DatabaseFault/damaged`` if the untrusted database lacks a table or a column of the statement.
    func prepare(_ command: String) throws(DatabaseFault) -> Statement {
        try Statement(command, of: self)
    }

    /// The connection's last error.
    fileprivate var fault: DatabaseFault { unsafe Database.fault(connection) }

    /// The fault for the connection's last result code.
    private static func fault(_ connection: OpaquePointer) -> DatabaseFault {
        let code = unsafe sqlite3_extended_errcode(connection)
        switch code & 0xFF {
        case SQLITE_CONSTRAINT: return .duplicate
        case SQLITE_FULL: return .host(.noSpace)
        case SQLITE_NOMEM: return .host(SystemError(code: ENOMEM))
        // Short reads and corruption are errors of the file, not of the host.
        case SQLITE_IOERR where code != sqlite3_code_short_read && code != sqlite3_code_corrupt_filesystem:
            let host = unsafe sqlite3_system_errno(connection)
            return .host(host == 0 ? .inputOutput : SystemError(code: host))
        case SQLITE_CANTOPEN:
            let host = unsafe sqlite3_system_errno(connection)
            return .host(host == 0 ? .noEntry : SystemError(code: host))
        case SQLITE_MISUSE: return .other(code)
        // Corruption, no database, missing tables, values over the limit, too many steps: the statements are correct,
        // so the file is not.
        default: return .damaged
        }
    }
}

/// A prepared statement.
@safe final class Statement {
    private let database: Database
    // Valid from init to deinit.
    @unsafe private let statement: OpaquePointer

    fileprivate init(_ command: String, of database: Database) throws(DatabaseFault) {
        var statement: OpaquePointer?
        guard unsafe sqlite3_prepare_v2(database.connection, command, -1, &statement, nil) == SQLITE_OK,
            let statement = unsafe statement
        else { throw database.fault }
        self.database = database
        unsafe self.statement = statement
    }

    deinit {
        unsafe sqlite3_finalize(statement)
    }

    /// Resets the statement, and binds its parameters.
    func bind(_ parameters: [Value]) throws(DatabaseFault) {
        unsafe sqlite3_reset(statement)
        database.addStepsForQuery()
        for (index, parameter) in parameters.enumerated() {
            let place = Int32(index + 1)
            let result =
                switch parameter {
                case .integer(let number): unsafe sqlite3_bind_int64(statement, place, number)
                case .text(let bytes):
                    unsafe bytes.withUnsafeBytes { bytes in
                        // An empty text with a null pointer would be NULL. SQLite copies the bytes.
                        unsafe sqlite3_bind_text64(
                            statement, place,
                            bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                                ?? UnsafePointer(Statement.nothing), UInt64(bytes.count), Statement.copying,
                            UInt8(SQLITE_UTF8))
                    }
                case .blob(let bytes):
                    unsafe bytes.withUnsafeBytes { bytes in
                        unsafe sqlite3_bind_blob64(
                            statement, place, bytes.baseAddress ?? UnsafeRawPointer(Statement.nothing),
                            UInt64(bytes.count), Statement.copying)
                    }
                case .null: unsafe sqlite3_bind_null(statement, place)
                }
            guard result == SQLITE_OK else { throw database.fault }
        }
    }

    /// Goes on to the next row.
    /// - Returns: false after the last row.
    func step() throws(DatabaseFault) -> Bool {
        switch unsafe sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let fault = database.fault
            unsafe sqlite3_reset(statement)
            throw fault
        }
    }

    /// Runs a command that gives no rows.
    func run(_ parameters: [Value]) throws(DatabaseFault) {
        try bind(parameters)
        _ = try step()
        unsafe sqlite3_reset(statement)
    }

    /// A parameter or a column.
    enum Value: Equatable {
        case integer(Int64)
        /// UTF-8 in valid databases; an untrusted one may have any bytes.
        case text([UInt8])
        case blob([UInt8])
        case null
    }

    /// A column of the current row, by its stored type, without conversion.
    func column(_ index: Int32) -> Value {
        switch unsafe sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER: .integer(unsafe sqlite3_column_int64(statement, index))
        case SQLITE_TEXT: .text(bytes(index))
        case SQLITE_BLOB: .blob(bytes(index))
        default: .null
        }
    }

    private func bytes(_ index: Int32) -> [UInt8] {
        // The bytes are valid until the next step, and copied here.
        let start = unsafe sqlite3_column_blob(statement, index)
        return unsafe Array(
            UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))))
    }

    /// SQLITE_TRANSIENT, a cast that Swift does not import.
    nonisolated(unsafe) private static let copying = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    /// The address of empty values.
    nonisolated(unsafe) private static let nothing = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
}
