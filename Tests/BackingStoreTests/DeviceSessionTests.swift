// How a start finds out how the session before it ended.

import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite struct DeviceSessionTests {
    @Test func `sessions count from 1 and remember how each ended`() throws {
        var record = SessionRecord()
        var session: DeviceSession
        (record, session) = try record.next(bootID: "boot 1")
        #expect(session == DeviceSession(number: 1, start: .clean, killed: [], powerLost: []))
        // Killed, in the same boot.
        (record, session) = try record.next(bootID: "boot 1")
        #expect(session == DeviceSession(number: 2, start: .afterKill, killed: [1], powerLost: []))
        // The host went down.
        (record, session) = try record.next(bootID: "boot 2")
        #expect(session == DeviceSession(number: 3, start: .afterHostCrash, killed: [1], powerLost: [2]))
        record.ended = true
        (record, session) = try record.next(bootID: "boot 3")
        #expect(session == DeviceSession(number: 4, start: .clean, killed: [1], powerLost: [2]))
    }

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
