// Where the notes are: a database in the app's group container, which the app and its share extension both open.

public import Foundation
import GRDB

/// The notes cannot be opened before the phone is unlocked.
public struct NotesAreLocked: Error {}

public final class NoteStore: Sendable {
    private let database: DatabasePool

    /// Opens the notes, or makes them.
    ///
    /// Files of class `completeUnlessOpen` stay usable after a lock where they are open, so that the app finishes its
    /// work.
    /// Later opens are refused, so it opens all that it will need here: the connection that writes, and the only one
    /// that reads.
    ///
    /// - Parameter group: the directory of the group container.
    /// - Throws: ``NotesAreLocked`` while the phone is locked.
    public init(in group: URL) throws {
        let directory = group.appending(path: "Notes", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true,
            attributes: [.protectionKey: FileProtectionType.completeUnlessOpen])
        var configuration = Configuration()
        configuration.maximumReaderCount = 1
        configuration.busyMode = .timeout(5)
        // The app posts Database.suspendNotification when it enters the background: no transaction outlasts that.
        configuration.observesSuspensionNotifications = true
        do {
            database = try DatabasePool(
                path: directory.appending(path: "notes.sqlite").path, configuration: configuration)
            try NoteStore.migrator.migrate(database)
            _ = try database.read { try Note.fetchCount($0) }
        } catch let error as DatabaseError where error.isRefusal {
            throw NotesAreLocked()
        }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { database in
            try database.create(table: "note") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("text", .text).notNull()
                table.column("changed", .datetime).notNull()
            }
        }
        return migrator
    }

    @discardableResult
    public func add(_ text: String) throws -> Note {
        try database.write { database in
            var note = Note(text)
            try note.insert(database)
            return note
        }
    }

    /// The texts of all notes, the oldest first.
    public func texts() throws -> [String] {
        try database.read { try Note.order(Column("id")).fetchAll($0) }.map(\.text)
    }

    /// Closes the files. The notes are of no use afterwards.
    public func close() throws {
        try database.close()
    }
}

extension DatabaseError {
    /// Whether it may be data protection that keeps the file closed: SQLite has no code of its own for EPERM.
    fileprivate var isRefusal: Bool {
        [.SQLITE_CANTOPEN, .SQLITE_AUTH, .SQLITE_IOERR].contains(resultCode)
    }
}
