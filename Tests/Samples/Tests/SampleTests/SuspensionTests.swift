// A database that an app shares with its extension, when the app is suspended.

import AppContainerTesting
import ContainerFoundation
import GRDB
import Notes
import Testing

private let group = "group.com.example.notes"

extension OneProcessTests {
    @Suite(.appContainer(app: "Apps/Notes.app", groups: [group]))
    struct SuspensionTests {
        private let phone = AppContainer.current

        enum Journal: String, CaseIterable {
            case rollback = "delete"
            case wal
        }

        /// A connection that ends what is under way when GRDB is told of a suspension.
        private func database(_ journal: Journal) throws -> DatabaseQueue {
            var configuration = Configuration()
            configuration.observesSuspensionNotifications = true
            configuration.journalMode = journal == .wal ? .wal : .default
            // A transaction may stay open after the call that begins it.
            configuration.allowsUnsafeTransactions = true
            let queue = try DatabaseQueue(
                path: phone.path(inGroup: group, "\(journal.rawValue).sqlite"), configuration: configuration)
            try queue.write { database in
                #expect(try String.fetchOne(database, sql: "PRAGMA journal_mode") == journal.rawValue)
                try database.execute(sql: "CREATE TABLE note (text); INSERT INTO note VALUES ('first')")
            }
            return queue
        }

        @Test func `the app's own store survives a suspension`() async throws {
            try await expectSuspension {
                let notes = try NoteStore(in: phone.url(inGroup: group))
                try notes.add("kept open")
                #expect(try notes.texts() == ["kept open"])
            }
        }

        @Test(arguments: Journal.allCases) func `an idle connection is no reason to end the app`(journal: Journal)
            async throws
        {
            let queue = try database(journal)
            try await expectSuspension {
                try await queue.write { try $0.execute(sql: "INSERT INTO note VALUES ('second')") }
                #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 2)
            }
        }

        @Test(arguments: Journal.allCases) func `an open transaction is`(journal: Journal) async throws {
            let queue = try database(journal)
            for kind in [Database.TransactionKind.deferred, .immediate] {
                try await queue.writeWithoutTransaction { database in
                    try database.beginTransaction(kind)
                    _ = try Row.fetchAll(database, sql: "SELECT * FROM note")
                    if kind == .immediate { try database.execute(sql: "INSERT INTO note VALUES ('second')") }
                }
                let locks = try await phone.rehearseSuspension().locks
                #expect(locks.map(\.path) == ["Groups/\(group)/\(journal.rawValue).sqlite"], "\(kind)")
                #expect(locks.map(\.lock) == ["sqlite"], "\(kind)")
                try await queue.writeWithoutTransaction { try $0.rollback() }
            }
            try await expectSuspension()
        }

        /// The remedy that GRDB offers: in an app, an observer of the background posts its notification.
        @Test(arguments: Journal.allCases) func `GRDB ends a transaction when it is told`(journal: Journal) async throws
        {
            let queue = try database(journal)
            let application = await UIApplication.shared
            let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
            let importing = Task.detached {
                try await queue.write { database in
                    while true {
                        try database.execute(sql: "INSERT INTO note VALUES ('imported')")
                        hasBegun.finish()
                    }
                }
            }
            for await _ in begun {}
            #expect(try await phone.rehearseSuspension().locks.map(\.lock) == ["sqlite"])
            let observer = NotificationCenter.default.addObserver(
                forName: UIApplication.didEnterBackgroundNotification, object: application, queue: nil
            ) { _ in NotificationCenter.default.post(name: Database.suspendNotification, object: nil) }
            try await expectSuspension(after: .seconds(1))
            await #expect(throws: DatabaseError.self) { try await importing.value }
            NotificationCenter.default.removeObserver(observer)
            // In the foreground again.
            NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
            #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 1)
        }
    }
}
