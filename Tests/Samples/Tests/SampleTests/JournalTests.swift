// A new phone: what was somebody's own comes along with the backup, and the app makes the rest again.

import AppContainer
import AppContainerTesting
import Foundation
import Journal
import Testing

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

    private func journal(in home: URL) throws -> Journal {
        try Journal(
            documents: home.appending(path: "Documents"),
            applicationSupport: home.appending(path: "Library/Application Support"))
    }
}
