// The purger's view of the device's process: running apps and operations keep it away, and purged entries become
// events.

import AppContainer
import BackingStore
import DeviceLifecycle
import Logging
import Platform
import Purging
import SandboxModel
import TestSupport
import Testing

@testable import Daemon

@Suite struct PurgeConnectionTests {
    private let scratch = Scratch()
    private let notes = ContainerIdentifier("com.example.Notes")!

    private func connect(_ device: BootedDevice, _ events: EventLog) throws -> PurgeConnection {
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let mounts = try Mounts(device: device, socket: scratch["private"], log: log, events: events)
        return PurgeConnection(
            mounts: mounts, running: RunningApps(), operations: AppOperations(), events: events, log: log)
    }

    private func makeDevice() throws -> BootedDevice {
        try StoredDevice.create(at: scratch["device"])
        return try BootedDevice.boot(at: scratch["device"]) { Issue.record("corrupt: \($0)") }
    }

    @Test func `an app runs as long as something holds it`() throws {
        let connection = try connect(makeDevice(), EventLog(device: scratch["device"]))
        let hold = connection.running.hold(notes)
        #expect(connection.isRunning(notes) && connection.runningApps == [notes])
        connection.running.release(hold)
        #expect(!connection.isRunning(notes) && connection.runningApps.isEmpty)
    }

    @Test func `a step on an app is carried out only while no operation is at work on it`() throws {
        let connection = try connect(makeDevice(), EventLog(device: scratch["device"]))
        #expect(connection.whileIdle(notes) { 1 } == 1)
        let inner = try connection.operations.run(on: notes) { () throws(Complaint) in
            connection.whileIdle(notes) { 1 }
        }
        #expect(inner == nil)
    }

    @Test func `each purged entry becomes an event`() throws {
        let device = try makeDevice()
        let staged = try device.stage(Checkout.notesApp)
        let app = try device.install(staged)
        device.discard(staged)
        try shell("touch '\(device.directory.path(of: .data, app.data))/tmp/a'")
        let events = EventLog(device: scratch["device"])
        let purger = Purger(device, in: try connect(device, events))
        try purger.start()
        _ = purger.purge(PurgeOrder(.everything)) { _ in true }
        purger.stop()
        let recorded = try EventRecord.entries(of: device.directory.path).map(\.event)
        #expect(recorded.map(\.path) == ["tmp/a"])
        #expect(recorded.first?.reason == "purgeable" && recorded.first?.app == notes.text)
    }
}
