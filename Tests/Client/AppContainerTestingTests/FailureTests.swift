// Expectations that are not met say what was there instead.

import AppContainer
import AppContainerTesting
import Foundation
import Testing

@Suite(.appContainer(app: notes, passcode: "1234")) struct FailureTests {
    private let container = AppContainer.current

    private func fails(_ message: String, _ body: () async throws -> Void) async throws {
        try await withKnownIssue {
            try await body()
        } matching: { issue in
            issue.comments.contains { $0.rawValue.hasPrefix(message) }
        }
    }

    @Test func `a refusal that does not come`() async throws {
        try await fails("expected a refusal by the sandbox, but nothing was refused") {
            try await expectRefused(.sandbox) { try Data().write(to: container.url("Documents/new")) }
        }
    }

    @Test func `a refusal by another rule`() async throws {
        try await fails("expected a refusal by data protection, but it was the rule sealedBundle that refused") {
            try await expectRefused(.dataProtection) { try Data().write(to: container.url("Notes.app/new")) }
        }
    }

    @Test func `a call that fails for another reason`() async throws {
        try await fails("expected a refusal by the rule inbox, but nothing was refused; the call failed otherwise") {
            try await expectRefused(.rule("inbox")) { _ = try Data(contentsOf: container.url("Documents/none")) }
        }
    }

    @Test func `a file that can be read, and one that cannot`() async throws {
        try Data("a".utf8).write(to: container.url("Documents/a"))
        try await fails("expected Documents/a to be unreadable, but it can be read") { expectUnreadable("Documents/a") }
        try await fails("expected Documents/b to be unreadable, but reading it fails otherwise") {
            expectUnreadable("Documents/b")
        }
        try await fails("expected Documents/b to be readable, but it is not") { expectReadable("Documents/b") }
    }

    @Test func `a file that is in a backup, and one that is not`() async throws {
        try Data().write(to: container.url("Documents/a"))
        try await fails("expected Documents/a to be excluded from backups, but it is included") {
            try await expectExcluded("Documents/a")
        }
        try await fails("expected tmp to be in a backup, but it is excluded") { try await expectIncluded("tmp") }
    }

    @Test func `a file that no purge has taken`() async throws {
        try Data().write(to: container.url("tmp/a"))
        try await fails("expected tmp/a to be purged, but it is there") { try await expectPurged("tmp/a") }
        try FileManager.default.removeItem(at: container.url("tmp/a"))
        try await fails("expected tmp/a to be purged, but it went without a purge") { try await expectPurged("tmp/a") }
    }

    @Test func `an event that has not come`() async throws {
        try await container.lock()
        try await fails("expected the event purged, but since the test began there were only: [") {
            try await expectEvent(.purged)
        }
    }

    @Test func `an event that came before the test began`() async throws {
        for event in [Event.Name.unlocked, .mounted] {
            try await fails("expected the event \(event.rawValue), but nothing has happened on the device since") {
                try await expectEvent(event)
            }
        }
        try await container.restart()
        try await container.unlock()
        try await expectEvent(.unlocked)
    }
}
