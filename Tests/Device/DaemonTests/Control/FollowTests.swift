// Following the events over the control socket, as a client in any language would.

import AppContainer
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import Daemon

@Suite struct FollowTests {
    /// A served device with a record of its own.
    private func run(_ body: (ControlAPIFixture, EventLog) async throws -> Void) async throws {
        let scratch = Scratch()
        try Data().write(to: URL(filePath: scratch["Device.json"]))
        let record = EventLog(device: scratch.path)
        try await ControlAPIFixture.run { fixture in
            fixture.device.events.withLock { $0 = record }
            try await body(fixture, record)
            record.end()
        }
    }

    /// Follows until there are so many events.
    private func follow(_ fixture: ControlAPIFixture, _ count: Int) -> Task<[Event], any Error> {
        let socket = fixture.socket
        return Task {
            var events: [Event] = []
            for try await event in DeviceClient(socket: socket).events {
                events.append(event)
                if events.count == count { break }
            }
            return events
        }
    }

    @Test func `the client gets what there is, then each event, and the end`() async throws {
        try await run { fixture, record in
            record.record(Event(.installed, app: "one"))
            let three = follow(fixture, 3)
            let all = follow(fixture, .max)
            _ = try await follow(fixture, 1).value
            record.record(Event(.locked))
            record.record(Event(.unlocked))
            #expect(try await withTimeLimit { try await three.value.map(\.event) } == [.installed, .locked, .unlocked])
            record.record(Event(.restarted))
            record.end()
            #expect(try await withTimeLimit { try await all.value.count } == 4)
        }
    }

    @Test func `HEAD is answered with the head alone, and follows nothing`() async throws {
        try await run { fixture, record in
            record.record(Event(.locked))
            let answer = try await fixture.exchange(Data("HEAD /v1/events/follow HTTP/1.1\r\nHost: d\r\n\r\n".utf8))
            #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("\r\n\r\n"), "\(answer)")
            #expect(answer.contains("\r\nContent-Type: application/x-ndjson\r\n"), "\(answer)")
        }
    }

    @Test func `events before a time are left out, and an event at that time is not`() async throws {
        try await run { fixture, record in
            for second in 1...3 { record.record(Event(.locked, time: "2026-01-01T00:00:0\(second).000Z")) }
            record.end()
            let times = Mutex<[String]>([])
            let client = DeviceClient(socket: fixture.socket)
            try await withTimeLimit {
                for try await event in client.events(since: "2026-01-01T00:00:02.000Z") {
                    times.withLock { $0.append(event.time) }
                }
            }
            #expect(times.withLock { $0 } == ["2026-01-01T00:00:02.000Z", "2026-01-01T00:00:03.000Z"])
        }
    }

    @Test func `it is plain HTTP, an event a line`() async throws {
        try await run { fixture, record in
            record.record(Event(.locked))
            record.end()
            let (status, body) = try await fixture.request("GET", "/v1/events/follow")
            #expect(status == 200)
            let lines = body.split(separator: "\r\n").filter { $0.hasPrefix("{") }
            #expect(lines.count == 1 && lines[0].contains(#""event":"locked"}"#))
            try await fixture.expect(405, "POST", "/v1/events/follow", body: "{}")
        }
    }

    @Test func `a shutdown ends followers, and does not wait for one that does not read`() async throws {
        try await run { fixture, record in
            for number in 0..<4000 {
                record.record(Event(.locked, path: String(repeating: "p", count: 1000) + "\(number)"))
            }
            let silent = try LocalConnection(to: fixture.socket)
            defer { withExtendedLifetime(silent) {} }
            try await silent.write(Array("GET /v1/events/follow HTTP/1.1\r\nHost: device\r\n\r\n".utf8))
            _ = try await silent.read(atMost: 1)
            let all = follow(fixture, .max)
            _ = try await follow(fixture, 1).value
            try await fixture.expect(200, "POST", "/v1/shutdown", body: "{}")
            #expect(try await withTimeLimit { try await all.value.count } == 4000)
            let begun = ContinuousClock.now
            await fixture.server.drain()
            #expect(ContinuousClock.now - begun < .seconds(10))
        }
    }

    @Test func `a client that goes while nothing happens is forgotten`() async throws {
        try await run { fixture, record in
            record.record(Event(.locked))
            for _ in 0..<20 { _ = try await follow(fixture, 1).value }
            for _ in 0..<500 where record.followers > 0 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(record.followers == 0)
        }
    }
}
