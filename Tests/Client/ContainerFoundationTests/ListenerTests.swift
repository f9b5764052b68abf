// Tests of what another process can ask of this one's presenters, line by line.

import Platform
import SandboxModel
import Testing

@testable import ContainerFoundation

@Suite struct ListenerTests {
    private let place: Workplace
    private let file: URL

    init() throws {
        place = try Workplace()
        file = try place.file("file")
    }

    /// The path in the place of all items off a mount.
    private func path(_ url: URL) throws -> String { String(try CoordinationPlace.item(at: url).path) }

    /// A connection as another process makes it, which has asked for a write of the file.
    private func asking() throws -> LineConnection {
        let use = try Listener.use(in: .host, presenting: true)
        let name = try #require(FileName(use.listener.identifier + Listener.presenting))
        let connection = LineConnection(try use.listener.meeting.connect(to: name))
        let question = PresenterQuestion(
            accesses: [FileAccess(.write, try path(file))], purpose: "another", isBatch: false, isReady: false)
        try connection.send(question)
        _ = try #require(try connection.receive(Greeting.self, until: .nanoseconds(in: 20)))
        _ = try #require(try connection.receive(PresenterAnswer.self, until: .nanoseconds(in: 20)))
        return connection
    }

    /// Sends notices for as long as the other end takes them.
    /// - Returns: whether it took all of them.
    private func send(_ notices: [PresenterNotice], over connection: LineConnection) -> Bool {
        for notice in notices {
            for attempt in 0... {
                do {
                    try connection.send(notice)
                    break
                } catch {
                    guard error as? SystemError == .wouldBlock, attempt < 20_000 else { return false }
                    usleep(1000)
                }
            }
        }
        return true
    }

    private func eventually(_ condition: () -> Bool) -> Bool {
        for _ in 0..<2000 {
            if condition() { return true }
            usleep(10_000)
        }
        return false
    }

    @Test func `an access that follows a moved item asks presenters there, and tells all of the change`() throws {
        let presenter = TestPresenter(file)
        let new = try place.file("new")
        let there = TestPresenter(new)
        var connection: LineConnection? = try asking()
        #expect(presenter.words == ["to writer"])
        try FileManager.default.removeItem(at: file)
        presenter.presentedItemDidMove(to: new)
        try connection?.send(
            PresenterNotice(move: ItemMove(from: try path(file), to: try path(new)), kind: .asking))
        _ = try #require(try connection?.receive(Greeting.self, until: .nanoseconds(in: 20)))
        let answer = try connection?.receive(PresenterAnswer.self, until: .nanoseconds(in: 20))
        #expect(answer != nil)
        #expect(there.words == ["to writer"])
        connection = nil
        #expect(eventually { presenter.words.count == 4 && there.words.count == 3 })
        #expect(presenter.words == ["to writer", "moved to new", "back", "changed"])
        #expect(there.words == ["to writer", "back", "changed"])
    }

    @Test func `a stream of moves ends with the connection, and presenters take their items back`() throws {
        let presenter = TestPresenter(file)
        let connection = try asking()
        let (one, other) = (try path(file), try path(place("other")))
        let stream = (0..<4000).map { number in
            let isBack = number.isMultiple(of: 2)
            return PresenterNotice(move: ItemMove(from: isBack ? one : other, to: isBack ? other : one), kind: .made)
        }
        #expect(!send(stream, over: connection))
        #expect(eventually { presenter.words.last == "changed" })
        let words = presenter.words
        #expect(words.count { $0.hasPrefix("moved") } == CoordinationLimits().moves)
        #expect(words.suffix(2) == ["back", "changed"])
    }

    @Test func `a path grows no longer than a path can be`() throws {
        let long = (0..<15).map { _ in String(repeating: "n", count: 250) }.joined(separator: "/")
        var access = FileAccess(.write, "a/file")
        for _ in 0..<100 { _ = access.follow(ItemMove(from: "a", to: "a/\(long)")) }
        #expect(access.path.utf8.count <= 4096)
    }

    @Test func `listeners that are silent keep an access waiting once, and new names only a few times`() throws {
        let meeting = try Listener.use(in: .host, presenting: false).listener.meeting
        let directory = try meeting.identity
        let listeners = SilentListeners()
        func patience(_ name: FileName, at seconds: UInt64) -> Double {
            listeners.patience(for: name, in: directory, usually: 3, now: seconds * 1_000_000_000)
        }
        func note(_ name: FileName, answers: Bool = false, at seconds: UInt64) {
            listeners.note(name, in: directory, hasAnswered: answers, now: seconds * 1_000_000_000)
        }
        #expect(patience("a", at: 1000) == 3)
        note("a", at: 1000)
        #expect(patience("a", at: 2000) == SilentListeners.moment)
        #expect(patience("b", at: 2000) == 3)
        note("a", answers: true, at: 2000)
        #expect(patience("a", at: 2000) == 3)
        for number in 0..<SilentListeners.mostNew { note(FileName("\(number)")!, at: 3000) }
        #expect(patience("new", at: 3059) == SilentListeners.moment)
        #expect(patience("new", at: 3061) == 3)
        for number in 0..<3 * SilentListeners.most { note(FileName("\(number)")!, at: 4000 + UInt64(number)) }
        #expect(listeners.count == SilentListeners.most)
    }
}
