// An app that imports notes into a database in its group container, and may be suspended meanwhile.

import ContainerFoundation
import GRDB

#if canImport(UIKit)
    import UIKit
#endif

/// importer JOURNAL MANNER: with JOURNAL `delete` or `wal`, and MANNER
/// - `idle`: it has the database open, and no transaction;
/// - `importing`: it is in the middle of one, and does not care about the background;
/// - `heeding`: the same, but has GRDB end the transaction when the app enters the background, and tells what is left
///   when it is active again.
@main struct Importer {
    private static let group = "group.com.example.notes"

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let journal = Configuration.JournalModeConfiguration(named: arguments[1]) else {
            fatalError("importer delete|wal idle|importing|heeding")
        }
        let database = try open(journal, named: arguments[1])
        switch arguments[2] {
        case "importing": importForEver(database)
        case "heeding": try await heed(database)
        default: break
        }
        say("ready")
        while true { try await Task.sleep(for: .seconds(60)) }
    }

    private static func open(_ journal: Configuration.JournalModeConfiguration, named name: String) throws
        -> DatabaseQueue
    {
        guard let directory = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
            fatalError("the app is not in the group \(group)")
        }
        var configuration = Configuration()
        configuration.observesSuspensionNotifications = true
        configuration.journalMode = journal
        let database = try DatabaseQueue(
            path: directory.appending(path: "\(name).sqlite").path, configuration: configuration)
        try database.write { database in
            try database.execute(sql: "CREATE TABLE IF NOT EXISTS note (text)")
            try database.execute(sql: "DELETE FROM note")
            try database.execute(sql: "INSERT INTO note VALUES ('first')")
        }
        return database
    }

    /// Begins a transaction that does not end by itself, and returns in the middle of it.
    private static func importForEver(_ database: DatabaseQueue) {
        let begun = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                try database.write { database in
                    while true {
                        try database.execute(sql: "INSERT INTO note VALUES ('imported')")
                        begun.signal()
                        usleep(1000)
                    }
                }
            } catch {
                say("import ended")
            }
        }
        begun.wait()
    }

    @MainActor private static func heed(_ database: DatabaseQueue) async throws {
        let application = UIApplication.shared
        let center = NotificationCenter.default
        let (news, active) = AsyncStream.makeStream(of: Void.self)
        let observers = [
            center.addObserver(
                forName: UIApplication.didEnterBackgroundNotification, object: application, queue: nil
            ) { _ in NotificationCenter.default.post(name: Database.suspendNotification, object: nil) },
            center.addObserver(
                forName: UIApplication.didBecomeActiveNotification, object: application, queue: nil
            ) { _ in
                NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
                _ = active.yield()
            },
        ]
        importForEver(database)
        say("ready")
        for await _ in news { break }
        for observer in observers { center.removeObserver(observer) }
        let count = try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") }
        say("notes: \(count ?? 0)")
    }

    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}

extension Configuration.JournalModeConfiguration {
    fileprivate init?(named name: String) {
        switch name {
        case "delete": self = .default
        case "wal": self = .wal
        default: return nil
        }
    }
}
