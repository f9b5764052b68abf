// The ending of each session, as the next one finds it.

import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite struct DeviceSessionTests {
    @Test func `sessions count from 1 and remember how each ended`() throws {
        var record = SessionRecord()
        var session: DeviceSession
        func expect(_ number: UInt32, _ start: SessionStart, killed: [UInt32] = [], powerLost: [UInt32] = []) {
            #expect(session.number == number)
            #expect(session.start == start)
            #expect(session.killed == killed)
            #expect(session.powerLost == powerLost)
        }
        (record, session) = try record.next(bootID: "boot 1", at: at(100), in: 7)
        expect(1, .clean)
        // Killed, in the same boot.
        (record, session) = try record.next(bootID: "boot 1", at: at(200), in: 7)
        expect(2, .afterKill, killed: [1])
        // The host went down.
        (record, session) = try record.next(bootID: "boot 2", at: at(300), in: 7)
        expect(3, .afterHostCrash, killed: [1], powerLost: [2])
        record.ended = true
        (record, session) = try record.next(bootID: "boot 3", at: at(400), in: 7)
        expect(4, .clean, killed: [1], powerLost: [2])
    }

    @Test func `the time of a session that did not end in order is kept, until the next began`() throws {
        var record = SessionRecord()
        (record, _) = try record.next(bootID: "boot", at: at(100), in: 7)
        (record, _) = try record.next(bootID: "boot", at: at(200), in: 7)
        record.ended = true
        (record, _) = try record.next(bootID: "boot", at: at(300), in: 7)
        let session = try record.next(bootID: "boot", at: at(400), in: 7).1
        #expect(session.killed == [1, 3])
        for (session, history) in [(session, session.history)] {
            #expect(session.times.keys.sorted() == [1, 3])
            for time in [100, 200, 300, 350, 400] { #expect(history.isDuring(.killed, at(time)), "\(time)") }
            for time in [99, 201, 299, 401] { #expect(!history.isDuring(.killed, at(time)), "\(time)") }
            #expect(!history.isDuring(.powerLost, at(150)))
        }
    }

    @Test func `a session whose time is not known may have been at any`() throws {
        var record = SessionRecord()
        (record, _) = try record.next(bootID: "boot", at: at(100), in: 7)
        // The host's clock was set back, or the record is of a version that wrote no times.
        let session = try record.next(bootID: "boot", at: at(50), in: 7).1
        #expect(session.times.isEmpty)
        for time in [0, 75, 500] { #expect(session.history.isDuring(.killed, at(time))) }
        let text = Array(#"{"bootID":"b","current":1,"ended":false,"killed":[],"powerLost":[]}"#.utf8)
        let old = try DeviceRecords.decode(SessionRecord.self, from: text, file: "Sessions.json")
        #expect(try old.next(bootID: "b", at: at(50), in: 7).1.history.isDuring(.killed, at(10)))
    }

    @Test func `the space of containers is known after an orderly end, at the same place`() throws {
        var record = SessionRecord()
        var session: DeviceSession
        (record, session) = try record.next(bootID: "boot", at: at(100), in: 7)
        #expect(session.used == nil)
        record.ended = true
        record.used = 4096
        record.usedIn = 7
        #expect(try record.next(bootID: "boot", at: at(200), in: 7).1.used == 4096)
        // A copy may take more or less where it is.
        #expect(try record.next(bootID: "boot", at: at(200), in: 8).1.used == nil)
        // It is known of the last session only.
        (record, session) = try record.next(bootID: "boot", at: at(200), in: 7)
        #expect(try record.next(bootID: "boot", at: at(300), in: 7).1.used == nil)
    }

    @Test func `numbers that no clock and no count gives end no boot`() throws {
        var record = SessionRecord()
        let spans = [
            SessionRecord.Span(session: 1, from: .min, until: .max),
            SessionRecord.Span(session: 2, from: .min, until: .min),
            SessionRecord.Span(session: 3, from: 0, until: .max),
            SessionRecord.Span(session: 4, from: .max, until: .max),
        ]
        record.times = spans
        (record.current, record.killed, record.began, record.ended) = (9, [1, 2, 3, 4], .min, false)
        let session = try record.next(bootID: "boot", at: at(100), in: 7).1
        #expect(session.number == 10)
        #expect(session.times.keys.sorted() == [3, 4])
        #expect(session.history.isDuring(.killed, at(50)))
        for used in [Int64.min, -1, .max] {
            var record = SessionRecord()
            (record.used, record.usedIn) = (used, 7)
            #expect(try record.next(bootID: "boot", at: at(100), in: 7).1.used == nil, "\(used)")
        }
        #expect(HostTime(timespec(tv_sec: 9_223_372_036, tv_nsec: 999_999_999)).nanoseconds == .max)
    }

    private func at(_ seconds: Int) -> HostTime { HostTime(nanoseconds: Int64(seconds) * 1_000_000_000) }

    @Test func `a session is begun and ended on disk`() throws {
        let scratch = Scratch()
        let device = try scratch.makeDevice()
        do {
            let lock = try device.lock()
            #expect(try device.beginSession(holding: lock).number == 1)
            try device.endSession(holding: lock)
        }
        let lock = try device.lock()
        #expect(try device.beginSession(holding: lock).start == .clean)
        // Not ended: the next start finds a killed one.
        let third = try device.beginSession(holding: lock)
        #expect(third.number == 3)
        #expect(third.start == .afterKill)
        #expect(third.killed == [2])
    }
}
