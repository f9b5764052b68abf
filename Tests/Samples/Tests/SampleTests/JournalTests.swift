// A new phone: what was somebody's own comes along with the backup, and the app makes the rest again. And days: the
// phone backs itself up at night, and removes old temporary files.

import AppContainer
import AppContainerTesting
import Foundation
import Journal
import Testing

/// In seconds.
private let hour: Int64 = 3600

@Suite(.appContainer(app: "Apps/Journal.app", passcode: "1234"))
struct JournalTests {
    private let phone = AppContainer.current

    @Test(arguments: [BackupRequest.Format.tar, .finder])
    func `a diary comes along to another phone, and its index is made anew`(format: BackupRequest.Format) async throws {
        let journal = try journal(in: URL(filePath: phone.home))
        // Foundation on Linux passes over the mark that the app sets.
        try await phone.exclude("Library/Application Support/Index")
        try journal.write("Rain all day", on: "2026-05-01")
        try journal.write("A day without rain", on: "2026-05-02")
        try await expectIncluded("Documents/Entries/2026-05-01.txt")
        try await expectExcluded("Library/Application Support/Index/rain")

        let backup = FileManager.default.temporaryDirectory.appending(path: "backup-\(UUID())")
        defer { try? FileManager.default.removeItem(at: backup) }
        try await phone.device.backup(to: backup.path, format: format)

        try await Device.withTemporary { other in
            try await other.install("Apps/Journal.app")
            try await other.restore(from: backup.path)
            let home = URL(filePath: try await other.mount(phone.app).mountPoint)
            let index = home.appending(path: "Library/Application Support/Index")
            #expect(!FileManager.default.fileExists(atPath: index.path))
            let restored = try self.journal(in: home)
            #expect(try restored.text(on: "2026-05-01") == "Rain all day")
            #expect(try restored.days(with: "rain") == ["2026-05-01", "2026-05-02"])
        }
    }

    @Test func `the backup of a night, when the phone is locked, brings a secret diary to another phone`() async throws
    {
        try await phone.device.setBackupPassword("open sesame")
        try journal(in: URL(filePath: phone.home)).write("Told to nobody", on: "2026-05-01")
        try await phone.setProtection(.complete, of: "Documents/Entries/2026-05-01.txt")
        let backups = FileManager.default.temporaryDirectory.appending(path: "backups-\(UUID())")
        try FileManager.default.createDirectory(at: backups, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: backups) }
        try await phone.device.scheduleBackups(to: backups.path)

        // A night without a charger, and then one with it.
        try await phone.lock()
        try await phone.device.conditions(power: false)
        #expect(try await phone.device.advanceClock(by: 30 * hour).happened.isEmpty)
        try await phone.device.conditions(power: true)
        var backup: String?
        for try await event in phone.events where event.event == .backedUp {
            backup = event.path
            break
        }
        let night = try await phone.device.advanceClock(by: 24 * hour).happened
        #expect(night.map(\.event) == [.backedUp])

        try await Device.withTemporary { other in
            try await other.install("Apps/Journal.app")
            try await other.restore(from: try #require(backup), password: "open sesame")
            let home = URL(filePath: try await other.mount(phone.app).mountPoint)
            #expect(try self.journal(in: home).text(on: "2026-05-01") == "Told to nobody")
        }
    }

    @Test func `an export that was left in tmp is gone after three days, and the diary is not`() async throws {
        let journal = try journal(in: URL(filePath: phone.home))
        try journal.write("Sunshine", on: "2026-05-03")
        let export = phone.url("tmp/diary.txt")
        try journal.text(on: "2026-05-03").write(to: export, atomically: true, encoding: .utf8)
        try await phone.whileNotRunning {
            _ = try await phone.device.advanceClock(by: 48 * hour)
            // To read it would make it young.
            #expect(FileManager.default.fileExists(atPath: export.path))
            _ = try await phone.device.advanceClock(by: 48 * hour)
        }
        #expect(!FileManager.default.fileExists(atPath: export.path))
        try await expectEvent(.cleaned)
        #expect(try journal.text(on: "2026-05-03") == "Sunshine")
    }

    private func journal(in home: URL) throws -> Journal {
        try Journal(
            documents: home.appending(path: "Documents"),
            applicationSupport: home.appending(path: "Library/Application Support"))
    }
}
