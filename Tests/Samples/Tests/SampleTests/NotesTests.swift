// A database that an app shares with its extension, on a phone that is locked.

import AppContainer
import AppContainerTesting
import Foundation
import Notes
import Testing

private let group = "group.com.example.notes"

extension OneProcessTests {
    @Suite(.appContainer(app: "Apps/Notes.app", passcode: "1234", groups: [group]))
    struct NotesTests {
        private let phone = AppContainer.current
        private let directory: URL

        /// Foundation on Linux passes over the class that the app asks for: the group's directory gives it to what is
        /// made in it.
        init() async throws {
            directory = phone.url(inGroup: group)
            try await phone.setProtection(.completeUnlessOpen, of: directory.path)
        }

        @Test func `an app that has its notes open goes on with them when the phone is locked`() async throws {
            let notes = try NoteStore(in: directory)
            try notes.add("written before")
            try await phone.lock()
            try notes.add("written meanwhile")
            #expect(try notes.texts() == ["written before", "written meanwhile"])
            try await phone.unlock()
            #expect(try notes.texts() == ["written before", "written meanwhile"])
            try notes.close()
        }

        @Test func `an extension that starts on a locked phone is told that the notes are locked`() async throws {
            let notes = try NoteStore(in: directory)
            try notes.add("private")
            try await phone.lock()
            // Though the app has the same file open.
            try await expectRefused(.dataProtection) {
                #expect(throws: NotesAreLocked.self) { try NoteStore(in: directory) }
            }
            try await phone.unlock()
            let shared = try NoteStore(in: directory)
            #expect(try shared.texts() == ["private"])
            try shared.close()
            try notes.close()
        }

        @Test func `after a restart the notes wait for the first unlock`() async throws {
            let notes = try NoteStore(in: directory)
            try notes.add("kept")
            try notes.close()
            try await phone.restart()
            #expect(throws: NotesAreLocked.self) { try NoteStore(in: directory) }
            try await phone.unlock()
            let again = try NoteStore(in: directory)
            #expect(try again.texts() == ["kept"])
            try again.close()
        }

        @Test func `what a locked phone backs up at night comes to a new phone with the backup password`() async throws
        {
            let notes = try NoteStore(in: directory)
            try notes.add("kept")
            try notes.close()
            try await phone.device.setBackupPassword("swordfish")
            try await phone.lock()
            let backup = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).tar").path
            defer { try? FileManager.default.removeItem(atPath: backup) }
            #expect(try await phone.device.backup(to: backup).sealed > 0)
            let next = try await Device.temporary()
            await #expect(throws: DeviceError.self) { try await next.restore(from: backup) }
            #expect(try await next.restore(from: backup, password: "swordfish").waiting == ["com.example.Notes"])
            await next.end()
        }

        @Test func `a database that is closed on a locked phone cannot be opened before the unlock`() async throws {
            let notes = try NoteStore(in: directory)
            try await phone.lock()
            try notes.add("the last one")
            try notes.close()
            expectUnreadable("Groups/\(group)/Notes/notes.sqlite")
            #expect(throws: NotesAreLocked.self) { try NoteStore(in: directory) }
            try await phone.unlock()
            expectReadable("Groups/\(group)/Notes/notes.sqlite")
        }
    }
}
