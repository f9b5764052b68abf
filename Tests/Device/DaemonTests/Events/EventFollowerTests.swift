// Following the record: each line once, in order, whoever writes meanwhile, and no harm from a reader who does not
// read.

import AppContainer
import Foundation
import Platform
import SandboxModel
import Testing

@testable import Daemon

/// Reads until there are so many events, or no more come.
private func events(_ count: Int, from subscription: EventSubscription) async -> [Event] {
    var read: [Event] = []
    while read.count < count, let bytes = await subscription.follower.next() {
        read += EventRecord.entries(in: bytes).map(\.event)
    }
    return read
}

@Suite final class EventFollowerTests {
    private let device: String
    private let files = FileManager.default

    init() throws {
        device = files.temporaryDirectory.appending(path: "follow-\(UUID().uuidString)").path
        try files.createDirectory(atPath: device, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: device + "/Device.json"))
    }

    deinit {
        try? files.removeItem(atPath: device)
    }

    private func record(_ numbers: Range<Int>, in log: EventLog) {
        for number in numbers { log.record(Event(.locked, path: "\(number)")) }
    }

    private func numbers(_ events: [Event]) -> [Int] { events.compactMap { $0.path.flatMap { Int($0) } } }

    @Test func `the recorded lines come first, and then each that is recorded`() async throws {
        let log = EventLog(device: device, largest: 4096)
        record(0..<60, in: log)
        let file = try Descriptor.open(path: device + "/Events.jsonl", flags: O_WRONLY | O_APPEND)
        try file.append(Array("no JSON\n{\"time\":".utf8))
        let kept = numbers(try EventRecord.entries(of: device).map(\.event))
        let subscription = try log.follow()
        record(60..<200, in: log)
        log.end()
        let events = await events(.max, from: subscription)
        #expect(numbers(events) == kept + Array(60..<200), "though the files have changed places meanwhile")
        #expect(await subscription.follower.next() == nil)
    }

    @Test func `each line comes once, though many are written while somebody begins to follow`() async throws {
        let log = EventLog(device: device, largest: 1 << 20)
        let writers = try (0..<3).map { writer in
            try HostThread(name: "writer") {
                for number in 0..<1500 { log.record(Event(.locked, path: "\(writer * 10_000 + number)")) }
            }
        }
        var subscriptions: [EventSubscription] = []
        for _ in 0..<20 {
            subscriptions.append(try log.follow())
            try await Task.sleep(for: .milliseconds(2))
        }
        for writer in writers { writer.join() }
        log.end()
        for subscription in subscriptions {
            let seen = numbers(await events(.max, from: subscription))
            for writer in 0..<3 {
                #expect(seen.filter { $0 / 10_000 == writer } == (0..<1500).map { writer * 10_000 + $0 })
            }
        }
    }

    @Test func `a follower that does not read misses events, gets their number, and goes on`() async throws {
        let log = EventLog(device: device)
        let subscription = try log.follow(limit: 1000)
        let other = try log.follow()
        record(0..<100, in: log)
        var first = await events(1, from: subscription)
        let missed = try #require(first.last)
        first.removeLast()
        #expect(numbers(first) == Array(0..<first.count) && !first.isEmpty)
        #expect(missed.event == .missed && missed.missed == 100 - first.count)
        record(100..<103, in: log)
        #expect(numbers(await events(3, from: subscription)) == [100, 101, 102])
        #expect(numbers(await events(103, from: other)) == Array(0..<103), "nobody else misses any")
        #expect(try EventRecord.entries(of: device).count == 103, "nor does the record")
    }

    @Test func `a reader waits, and is woken by an event, by the end, and when it gives up`() async throws {
        let log = EventLog(device: device)
        let subscription = try log.follow()
        let waiting = Task { await events(1, from: subscription) }
        log.record(Event(.locked, path: "1"))
        #expect(numbers(await waiting.value) == [1])
        let cancelled = Task { await subscription.follower.next() }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        let ended = Task { await subscription.follower.next() }
        log.end()
        #expect(await ended.value == nil)
        #expect(await events(.max, from: try log.follow()).count == 1, "who comes after the end gets what there is")
    }

    @Test func `a follower that has gone is released`() throws {
        let log = EventLog(device: device)
        weak var follower: EventFollower?
        do {
            let subscription = try log.follow()
            follower = subscription.follower
            #expect(follower != nil)
        }
        #expect(follower == nil)
    }
}
