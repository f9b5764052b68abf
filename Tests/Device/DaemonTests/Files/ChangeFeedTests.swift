// Changes of files on their way to those who follow them: each place once, and never in a caller's way.

import AppContainer
import Foundation
import SandboxModel
import Testing

@testable import ContainerVolume
@testable import Daemon

@Suite("Changes of files, followed")
struct ChangeFeedTests {
    private let feed = ChangeFeed()
    private let app = ContainerIdentifier("com.example.Notes")!

    private func lines(_ follower: ChangeFollower) async throws -> Set<FileChange> {
        let bytes = await follower.next() ?? []
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        return Set(try lines.map { try JSONDecoder().decode(FileChange.self, from: Data($0)) })
    }

    @Test func `nobody is asked for while nobody follows`() {
        #expect(!feed.isFollowed)
        do {
            let follower = feed.follow()
            #expect(feed.isFollowed)
            withExtendedLifetime(follower) {}
        }
        #expect(!feed.isFollowed)
    }

    @Test func `a place comes once, however often it changes`() async throws {
        let follower = feed.follow()
        for _ in 0..<100 { feed.record(app: app, path: Array("Documents".utf8)) }
        feed.record(app: app, path: Array("tmp".utf8))
        #expect(
            try await lines(follower) == [
                FileChange(app: app.text, path: "Documents"), FileChange(app: app.text, path: "tmp"),
            ])
    }

    @Test func `names that only their bytes tell apart are two places`() async throws {
        let follower = feed.follow()
        for path in ["\u{e9}".utf8, "e\u{301}".utf8].map(Array.init) + [[0xff], [0xfe]] {
            feed.record(app: app, path: path)
        }
        feed.record(HomePath(app: app, path: "\u{fffd}", cut: 0, bytes: [0xfd]))
        let bytes = await follower.next() ?? []
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 5)
        for encoded in ["/w==", "/g==", "/Q=="] { #expect(lines.filter { $0.contains(encoded) }.count == 1) }
    }

    @Test func `each follower gets all`() async throws {
        let (one, other) = (feed.follow(), feed.follow())
        feed.record(app: app, path: Array("Documents".utf8))
        #expect(try await lines(one).count == 1)
        #expect(try await lines(other).count == 1)
    }

    @Test func `for too many places one stands`() async throws {
        let follower = feed.follow()
        for number in 0...2 * ChangeFollower.most { feed.record(app: app, path: Array("Documents/\(number)".utf8)) }
        let lines = try await lines(follower)
        #expect(lines == [FileChange(app: nil, path: nil)])
    }

    @Test func `a place that is cut is anything of its app, and a file without a name is nothing`() async throws {
        let follower = feed.follow()
        feed.record(HomePath(app: app, path: nil, cut: 0))
        feed.record(HomePath(app: app, path: "…/d", cut: 2000))
        #expect(try await lines(follower) == [FileChange(app: app.text, path: nil)])
    }

    @Test func `events that tell of changed files are changes`() async throws {
        let follower = feed.follow()
        feed.record(Event(.purged, app: app.text, path: "Library/Caches/x"))
        feed.record(Event(.delivered, app: app.text, path: "Documents/Inbox/a"))
        feed.record(Event(.locked))
        feed.record(Event(.refused, app: app.text, path: "Notes.app"))
        #expect(
            try await lines(follower) == [
                FileChange(app: app.text, path: "Library/Caches"), FileChange(app: app.text, path: "Documents/Inbox"),
            ])
    }

    @Test func `an event whose directory is no text is anything of its app`() async throws {
        let follower = feed.follow()
        feed.record(Event(.purged, app: app.text, path: "Library/Caches/\u{fffd}/x"))
        #expect(try await lines(follower) == [FileChange(app: app.text, path: nil)])
    }

    @Test func `the end of the device ends what is followed, and what is followed later`() async {
        let follower = feed.follow()
        feed.end()
        #expect(await follower.next() == nil)
        #expect(await feed.follow().next() == nil)
    }

    @Test func `a reader that is cancelled waits no longer`() async {
        let follower = feed.follow()
        let reader = Task { await follower.next() }
        reader.cancel()
        #expect(await reader.value == nil)
    }
}
