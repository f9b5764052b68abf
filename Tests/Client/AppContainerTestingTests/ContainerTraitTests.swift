// The trait: a device of its own for each test, with the rules of a phone.

import AppContainer
import AppContainerTesting
import Foundation
import Testing

let notes = "Tests/Fixtures/Notes.app"

@Suite(.appContainer(app: notes, passcode: "1234")) struct ContainerTraitTests {
    @Test func `a file survives a lock, and cannot be read meanwhile`() async throws {
        let container = AppContainer.current
        let path = container.path("Documents/secret")
        try Data("hello".utf8).write(to: URL(filePath: path))
        try await container.setProtection(.complete, of: path)
        try await container.lock()
        expectUnreadable(path)
        try await expectRefused(.dataProtection) { _ = try Data(contentsOf: URL(filePath: path)) }
        try await container.unlock()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "hello")
    }

    @Test(arguments: 0..<4) func `each case of a test has a device that is as new`(number: Int) async throws {
        let path = AppContainer.current.path("Documents/number")
        #expect(!FileManager.default.fileExists(atPath: path))
        try Data("\(number)".utf8).write(to: URL(filePath: path))
        #expect(try await AppContainer.current.device.apps().map(\.identifier) == ["com.example.Notes"])
    }

    @Test func `the bundle is sealed`() async throws {
        let refusals = try await expectRefused(.sandbox) {
            try Data().write(to: URL(filePath: AppContainer.current.path("Notes.app/new")))
        }
        #expect(refusals.map(\.rule) == ["sealedBundle"])
        try await expectRefused(.rule("topLevel")) {
            try FileManager.default.createDirectory(
                atPath: AppContainer.current.path("new"), withIntermediateDirectories: false)
        }
    }

    @Test func `a delivered file is in the Inbox`() async throws {
        let delivered = try await AppContainer.current.deliver("\(notes)/Info.plist")
        #expect(delivered == [AppContainer.current.path("Documents/Inbox/Info.plist")])
        expectReadable(delivered[0])
        try await expectEvent(.delivered)
    }

    @Test func `a cache can be purged, and a file be excluded`() async throws {
        let container = AppContainer.current
        let caches = container.path("Library/Caches/images")
        try FileManager.default.createDirectory(atPath: caches, withIntermediateDirectories: false)
        try Data(repeating: 1, count: 10_000).write(to: URL(filePath: caches + "/one"))
        #expect(try await container.purge().skipped.map(\.reason) == ["appRunning"])
        try await container.whileNotRunning { try await container.purge() }
        try await expectPurged(caches + "/one")
        let kept = container.path("Library/kept")
        try Data().write(to: URL(filePath: kept))
        try await expectIncluded(kept)
        try await container.exclude(kept)
        try await expectExcluded(kept)
    }

    @Test func `an update that is cancelled in the middle comes to its end, and another does not begin`() async throws {
        let container = AppContainer.current
        let first = container.home
        let update = Task {
            let updated = try await container.update(to: notes)
            while !Task.isCancelled { await Task.yield() }
            await expect(kind: .cancelled) { try await container.update(to: notes) }
            return updated
        }
        for try await event in container.events where event.event == .unmounted { break }
        update.cancel()
        #expect(try await update.value.identifier == container.app)
        #expect(container.home != first)
        expectReadable("Notes.app/Info.plist")
    }

    @Test func `an update moves the home, and one that fails leaves it where it is`() async throws {
        let container = AppContainer.current
        let first = container.home
        try await container.update(to: notes)
        let second = container.home
        #expect(first != second && !FileManager.default.fileExists(atPath: first))
        await expect(kind: .notFound) { try await container.update(to: "none.app") }
        let file = try FileHandle(forReadingFrom: container.url("Notes.app/Info.plist"))
        await expect(kind: .inUse) { try await container.update(to: notes) }
        try file.close()
        #expect(container.home == second)
        expectReadable("Notes.app/Info.plist")
    }
}

@Suite struct OtherTraitTests {
    @Test(.appContainer(app: notes, passcode: "1234", isUnlocked: false))
    func `a device can be before its first unlock`() async throws {
        let container = AppContainer.current
        #expect(try await container.device.status().state == "beforeFirstUnlock")
        try await container.unlock()
        #expect(try await container.device.status().state == "unlocked")
    }

    @Test(.appContainer(app: notes, groups: ["group.com.example.notes"]))
    func `a group's container is found by its identifier`() throws {
        let container = AppContainer.current
        let directory = container.url(inGroup: "group.com.example.notes")
        try Data("shared".utf8).write(to: directory.appending(path: "note"))
        expectReadable(container.path(inGroup: "group.com.example.notes", "note"))
        let groups = try FileManager.default.contentsOfDirectory(atPath: container.path("Groups"))
        #expect(groups == [directory.lastPathComponent])
    }

    @Test(.appContainer(app: notes, capacity: 32 << 20))
    func `a device can hold so many bytes`() async throws {
        #expect(try await AppContainer.current.device.capacity().capacity == 32 << 20)
    }

    @Test(.appContainer(app: notes))
    func `the app of a test runs, but for a part that says otherwise, over a restart and an update`() async throws {
        let container = AppContainer.current
        func running() async throws -> [String] { try await container.device.status().running }
        #expect(try await running() == [container.app])
        #expect(try await container.whileNotRunning { try await running() } == [])
        #expect(try await running() == [container.app])
        try await container.restart()
        #expect(try await running() == [container.app])
        try await container.update(to: notes)
        #expect(try await running() == [container.app])
        await #expect(throws: CancellationError.self) {
            try await container.whileNotRunning { throw CancellationError() }
        }
        #expect(try await running() == [container.app])
        let path = container.path("Library/Caches/kept")
        try Data(count: 5000).write(to: URL(filePath: path))
        try await container.purge()
        expectReadable(path)
    }

    @Test(.appContainer(app: notes, isRunning: false))
    func `an app that does not run loses its caches`() async throws {
        let container = AppContainer.current
        #expect(try await container.device.status().running == [])
        let path = container.path("Library/Caches/gone")
        try Data(count: 5000).write(to: URL(filePath: path))
        try await container.whileNotRunning { try await container.purge() }
        try await expectPurged(path)
        #expect(try await container.device.status().running == [])
    }
}

/// More tests than there are devices at a time: none may wait for a second one with the first in its hands.
@Suite(.appContainer(app: notes)) struct NestedTraitTests {
    @Test(.appContainer(app: notes, passcode: "1234"), arguments: 0..<12)
    func `of two traits the nearer one counts, and there is one device`(number: Int) async throws {
        #expect(try await AppContainer.current.device.status().hasPasscode)
    }

    @Test(.appContainer(app: notes), arguments: 0..<12)
    func `two traits that ask for the same are one`(number: Int) async throws {
        #expect(try await !AppContainer.current.device.status().hasPasscode)
    }
}
