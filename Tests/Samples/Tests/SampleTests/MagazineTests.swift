// A cache that the system removes, whole, while the app is away or while space is short.

import AppContainer
import AppContainerTesting
import Foundation
import Magazine
import Synchronization
import Testing

@Suite(.appContainer(app: "Apps/Magazine.app", capacity: 32_000_000))
struct MagazineTests {
    private let phone = AppContainer.current
    private let server = Server()
    private let covers: CoverCache

    init() {
        covers = CoverCache(in: phone.url("Library/Caches"), download: server.cover)
    }

    @Test func `a cover is downloaded once`() async throws {
        let first = try await covers.cover(ofIssue: 1)
        #expect(try await covers.cover(ofIssue: 1) == first)
        #expect(server.downloads == 1)
    }

    @Test func `a cover that was purged is downloaded anew`() async throws {
        let first = try await covers.cover(ofIssue: 1)
        try await phone.whileNotRunning { try await phone.purge() }
        try await expectPurged(covers.file(ofIssue: 1).path)
        #expect(try await covers.cover(ofIssue: 1) == first)
        #expect(try await covers.cover(ofIssue: 1) == first)
        #expect(server.downloads == 2)
    }

    @Test(.appContainer(app: "Apps/Magazine.app", capacity: 32_000_000, isRunning: false))
    func `covers are purged for a document that needs space`() async throws {
        let phone = AppContainer.current
        let covers = CoverCache(in: phone.url("Library/Caches"), download: server.cover)
        for issue in 1...8 { _ = try await covers.cover(ofIssue: issue) }
        // Nine tenths of what the device holds.
        let film = phone.url("Documents/film")
        #expect(FileManager.default.createFile(atPath: film.path, contents: nil))
        let file = try FileHandle(forWritingTo: film)
        for _ in 0..<28 { try file.write(contentsOf: Data(count: 1 << 20)) }
        try file.close()
        for try await event in phone.events where event.event == .purged { break }
        try await expectPurged(covers.file(ofIssue: 1).path)
        _ = try await covers.cover(ofIssue: 1)
        #expect(server.downloads == 9)
    }

    @Test func `while the app runs its covers stay`() async throws {
        _ = try await covers.cover(ofIssue: 1)
        try await phone.purge()
        expectReadable(covers.file(ofIssue: 1).path)
    }

    @Test(.appContainer(app: "Apps/Magazine.app", isRunning: false, capricious: "a phone that disobeys"))
    func `covers are shown on a phone that takes Library/Caches itself away`() async throws {
        let phone = AppContainer.current
        let covers = CoverCache(in: phone.url("Library/Caches"), download: server.cover)
        for _ in 0..<200 where FileManager.default.fileExists(atPath: phone.path("Library/Caches")) {
            try await phone.purge()
        }
        try await expectEvent(.disobeyed)
        #expect(!FileManager.default.fileExists(atPath: phone.path("Library/Caches")))
        _ = try await covers.cover(ofIssue: 1)
        try await expectExcluded(covers.file(ofIssue: 1).path)
    }

    @Test func `no cover is in a backup`() async throws {
        _ = try await covers.cover(ofIssue: 1)
        try await expectExcluded(covers.file(ofIssue: 1).path)
    }
}

/// Counts what is asked of it.
private final class Server: Sendable {
    private let count = Mutex(0)

    var downloads: Int { count.withLock { $0 } }

    @Sendable func cover(ofIssue issue: Int) -> Data {
        count.withLock { $0 += 1 }
        return Data(repeating: UInt8(issue), count: 256 << 10)
    }
}
