// The record of events on disk: whole lines, in order, bounded, and never in the way.

import AppContainer
import Foundation
import Platform
import SandboxModel
import Testing

@testable import Daemon

@Suite final class EventLogTests {
    private let device: String
    private let files = FileManager.default

    init() throws {
        device = files.temporaryDirectory.appending(path: "events-\(UUID().uuidString)").path
        try files.createDirectory(atPath: device, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: device + "/Device.json"))
    }

    deinit {
        try? files.removeItem(atPath: device)
    }

    private var newer: String { device + "/Events.jsonl" }
    private var older: String { device + "/Events.1.jsonl" }
    private func paths() throws -> [String?] { try EventRecord.entries(of: device).map(\.event.path) }

    private func append(_ text: String) throws {
        let file = try Descriptor.open(path: newer, flags: O_WRONLY | O_APPEND | O_CREAT, mode: 0o600)
        try file.append(Array(text.utf8))
    }

    @Test func `a record that was never begun is empty`() throws {
        #expect(try EventRecord.entries(of: device).isEmpty)
    }

    @Test func `an event reads as it was noted, as a line with the time first`() throws {
        var event = Event(
            .refused, app: "com.example.Notes", path: "a\n\"\\\u{1}\u{7F}\u{FFFD}ü🙂", operation: "open", pid: 7,
            process: "a b", rule: "inbox", errno: "EPERM", range: Event.Range(offset: 1, length: 2))
        EventLog(device: device).record(event)
        let entry = try #require(try EventRecord.entries(of: device).first)
        #expect(entry.event == event)
        #expect(
            entry.line.hasPrefix(#"{"time":"\#(event.time)","event":"refused","app":"com.example.Notes","path":"a"#))
        #expect(!entry.line.unicodeScalars.contains { $0.value < 32 || $0.value == 127 })
        event.dropped = 3
        #expect(try JSONDecoder().decode(Event.self, from: Data(EventRecord.line(event))) == event)
        #expect(try files.attributesOfItem(atPath: newer)[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a line is bounded whatever its path is`() throws {
        let part = "\u{1}" + String(repeating: "ü", count: 100)
        let path = (1...20_000).map { "\($0)\(part)" }.joined(separator: "/")
        let event = Event(.refused, app: "com.example.Notes", path: path, operation: "open", rule: "inbox")
        let line = EventRecord.line(event)
        #expect(line.count < 8192)
        let read = try JSONDecoder().decode(Event.self, from: Data(line))
        let end = try #require(read.path)
        #expect(end.hasPrefix("…/") && path.hasSuffix(end.dropFirst()))
        #expect(read.pathCut == path.utf8.count - end.utf8.count + "…/".utf8.count)
        // A path that fits is whole.
        let whole = Event(.mounted, path: String(repeating: "/name", count: 200))
        #expect(try JSONDecoder().decode(Event.self, from: Data(EventRecord.line(whole))) == whole)
    }

    @Test func `a file that is full takes the place of the older one`() throws {
        let log = EventLog(device: device, largest: 4096)
        for number in 0..<200 {
            log.record(Event(.locked, path: "\(number)"))
            for path in [newer, older] where files.fileExists(atPath: path) {
                #expect(try HostPath.status(path).size <= 4096)
            }
        }
        let numbers = try paths().compactMap { $0.flatMap { Int($0) } }
        #expect(numbers == Array((200 - numbers.count)..<200), "the last ones, in order, none missing")
        #expect(numbers.count > 50)
        // Another process goes on where this one ended.
        EventLog(device: device, largest: 4096).record(Event(.locked, path: "200"))
        #expect(try paths().last == "200")
    }

    @Test func `lines of many threads do not mix, and none is lost, though files change`() throws {
        let log = EventLog(device: device, largest: 400_000)
        let reader = try HostThread(name: "reader") { [device] in
            for _ in 0..<20 {
                guard let entries = try? EventRecord.entries(of: device) else {
                    Issue.record("not readable meanwhile")
                    return
                }
                let seen = entries.compactMap(\.event.path)
                if Set(seen).count != seen.count { Issue.record("an event was seen twice") }
            }
        }
        let writers = try (0..<4).map { writer in
            try HostThread(name: "writer-\(writer)") {
                for number in 0..<2500 { log.record(Event(.locked, path: "\(writer) \(number)")) }
            }
        }
        for thread in writers + [reader] { thread.join() }
        let paths = try paths().compactMap(\.self)
        #expect(paths.count == 10_000)
        for writer in 0..<4 {
            let own = paths.filter { $0.hasPrefix("\(writer) ") }
            #expect(own == (0..<2500).map { "\(writer) \($0)" }, "in the order in which they were noted")
        }
    }

    @Test func `half of a line that a killed process left is passed over`() throws {
        EventLog(device: device).record(Event(.locked, path: "one"))
        try append(#"{"time":"2026-01-01T00:00:00.000Z","event":"loc"#)
        #expect(try paths() == ["one"])
        EventLog(device: device).record(Event(.locked, path: "two"))
        try append("no JSON\n[]\n{}\n\n")
        EventLog(device: device).record(Event(.locked, path: "three"))
        #expect(try paths() == ["one", "two", "three"])
    }

    @Test func `events that cannot be written are dropped and counted`() throws {
        let log = EventLog(device: device)
        try files.createDirectory(atPath: newer, withIntermediateDirectories: false)
        for _ in 0..<3 { log.record(Event(.locked)) }
        try files.removeItem(atPath: newer)
        log.record(Event(.locked))
        log.record(Event(.unlocked))
        #expect(try EventRecord.entries(of: device).map(\.event.dropped) == [3, nil])
        // A device that is gone altogether is no reason to fail either.
        try files.removeItem(atPath: device)
        log.record(Event(.locked))
        EventLog(device: device).record(Event(.locked))
    }

    @Test func `events recorded together are written together, or dropped together`() throws {
        let log = EventLog(device: device, largest: 4096)
        let events = (0..<16).map { Event(.purged, path: "\($0)") }
        try files.createDirectory(atPath: newer, withIntermediateDirectories: false)
        log.record(events)
        try files.removeItem(atPath: newer)
        log.record(events)
        let entries = try EventRecord.entries(of: device)
        #expect(entries.map(\.event.path) == (0..<16).map { "\($0)" })
        #expect(entries.map(\.event.dropped) == [16] + Array(repeating: nil, count: 15))
        log.record([])
        #expect(try EventRecord.entries(of: device).count == 16)
    }

    @Test func `the count of dropped events includes their omitted refusals`() throws {
        let log = EventLog(device: device)
        try files.createDirectory(atPath: newer, withIntermediateDirectories: false)
        var event = Event(.refused, operation: "mkdir", rule: "topLevel")
        event.omitted = 10
        log.record(event)
        var summary = Event(.refused, rule: "topLevel")
        summary.omitted = 5
        log.record(summary)
        try files.removeItem(atPath: newer)
        log.record(Event(.locked))
        #expect(try EventRecord.entries(of: device).map(\.event.dropped) == [16])
    }

    @Test func `no link is followed, and no other file written to`() throws {
        let other = device + "/other"
        try "kept".write(toFile: other, atomically: false, encoding: .utf8)
        let log = EventLog(device: device)
        try files.createSymbolicLink(atPath: newer, withDestinationPath: other)
        log.record(Event(.locked))
        try files.removeItem(atPath: newer)
        try files.linkItem(atPath: other, toPath: newer)
        log.record(Event(.locked))
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "kept")
        try files.removeItem(atPath: newer)
        log.record(Event(.locked))
        #expect(try EventRecord.entries(of: device).map(\.event.dropped) == [2])
    }

    @Test func `a device that was moved keeps its record`() throws {
        let log = EventLog(device: device)
        log.record(Event(.locked, path: "one"))
        try files.moveItem(atPath: device, toPath: device + "-moved")
        log.record(Event(.locked, path: "two"))
        try files.moveItem(atPath: device + "-moved", toPath: device)
        #expect(try paths() == ["one", "two"])
    }

    @Test func `a device that is being removed gets no file any more`() throws {
        try files.removeItem(atPath: device + "/Device.json")
        EventLog(device: device).record(Event(.locked))
        #expect(try files.contentsOfDirectory(atPath: device) == [])
    }
}
