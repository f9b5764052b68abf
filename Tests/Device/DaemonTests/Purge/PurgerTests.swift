// The purger of a device of which nothing is mounted: what it takes, when, and who waits for it.

import BackingStore
import ContainerVolume
import DeviceLifecycle
import Foundation
import Platform
import SandboxModel
import SandboxPolicy
import Synchronization
import TestSupport
import Testing

@testable import Daemon

/// A device with an app, a purger, and files that are put into the app's caches.
private final class PurgedDevice: Sendable {
    let scratch = Scratch()
    let device: Device
    let purger: Purger
    let running = RunningApps()
    let operations = AppOperations()
    private let events = Mutex<[String]>([])
    let container: String

    static let notes = ContainerIdentifier("com.example.Notes")!

    init(capacity: Int64? = nil) throws {
        try Device.create(at: scratch["device"], capacity: capacity)
        device = try Device.boot(at: scratch["device"]) { Issue.record("corrupt: \($0)") }
        let app = try device.install(Checkout.notesApp)
        container = device.directory.path(of: .data, app.data)
        purger = Purger(running: running, space: device.context.space, uses: device.context.uses)
    }

    func start() throws {
        let purger = purger
        let run = PurgeRun(
            device: device, trash: try Trash(in: device.directory.root, space: device.context.space),
            operations: operations, running: running, volume: { _ in nil },
            purged: { [self] purged in events.withLock { $0 += purged.map(\.unit.path) } },
            freed: { purger.note(freed: $0) })
        try purger.start(run) { [device] goOn in try? device.directory.emptyTrash(while: goOn) }
    }

    /// Puts a file into the caches that was used so many seconds ago.
    func put(_ name: String, kibibytes: Int, age: Int64) throws {
        let path = "\(container)/\(name)"
        try Data(repeating: 1, count: kibibytes << 10).write(to: URL(filePath: path))
        try shell(
            "setfattr -n \(UseRecord.attributeName) -v \((HostTime.now.nanoseconds - age * 1_000_000_000)) '\(path)'")
        let status = try HostPath.status(path)
        device.context.space.add(status.blocks * 512)
    }

    var entries: [String] {
        ["Library/Caches", "tmp"].flatMap { place in
            (try! FileManager.default.contentsOfDirectory(atPath: "\(container)/\(place)")).map { "\(place)/\($0)" }
        }.sorted()
    }

    var told: [String] { events.withLock { $0 } }

    func purge(_ order: PurgeOrder) -> PurgeOutcome { purger.purge(order) { _ in true }! }
}

@Suite struct PurgerTests {
    private func with(
        capacity: Int64? = nil, _ body: (PurgedDevice) throws -> Void
    ) throws {
        let device = try PurgedDevice(capacity: capacity)
        try body(device)
        device.purger.stop()
    }

    private static let files = [("Library/Caches/a", 40), ("tmp/b", 30), ("Library/Caches/c", 20), ("tmp/d", 10)]

    private func fill(_ device: PurgedDevice) throws {
        for (name, age) in PurgerTests.files { try device.put(name, kibibytes: 1024, age: Int64(age)) }
        try device.start()
    }

    @Test func `everything goes at the critical level, the least recently used first`() throws {
        try with { device in
            try fill(device)
            let outcome = device.purge(PurgeOrder(.everything))
            #expect(outcome.purged.map(\.unit.path) == PurgerTests.files.map(\.0))
            #expect(device.told == PurgerTests.files.map(\.0))
            #expect(outcome.freed >= 4 << 20)
            #expect(device.entries.isEmpty)
        }
    }

    @Test func `a dry run takes nothing, and tells the same`() throws {
        try with { device in
            try fill(device)
            let told = device.purge(PurgeOrder(.everything, isDryRun: true))
            #expect(told.purged.map(\.unit.path) == PurgerTests.files.map(\.0))
            #expect(device.entries.count == 4)
            #expect(device.told.isEmpty)
            #expect(device.purge(PurgeOrder(.everything)).freed == told.freed)
        }
    }

    @Test func `what is old enough goes`() throws {
        try with { device in
            try fill(device)
            let outcome = device.purge(PurgeOrder(.unused(for: 25_000_000_000)))
            #expect(outcome.purged.map(\.unit.path) == ["Library/Caches/a", "tmp/b"])
            #expect(outcome.skipped.map(\.reason) == [.usedRecently, .usedRecently])
        }
    }

    @Test func `it stops when as much is available as was asked for`() throws {
        try with(capacity: 64 << 20) { device in
            try fill(device)
            let available = device.device.context.space.figures.available
            let outcome = device.purge(PurgeOrder(.available(available + (3 << 19))))
            #expect(outcome.purged.map(\.unit.path) == ["Library/Caches/a", "tmp/b"])
            #expect(outcome.available >= available + (3 << 19))
            #expect(outcome.skipped.map(\.reason) == [.targetReached, .targetReached])
            // There is more than that now.
            #expect(device.purge(PurgeOrder(.available(available))).purged.isEmpty)
        }
    }

    @Test func `all goes that may when it is not enough`() throws {
        try with(capacity: 64 << 20) { device in
            try fill(device)
            let outcome = device.purge(PurgeOrder(.available(1 << 40)))
            #expect(outcome.purged.count == 4)
            #expect(outcome.available < 1 << 40)
            #expect(outcome.isExhausted)
            // Nothing to do is not the same as nothing that may go.
            #expect(device.purge(PurgeOrder(.available(1 << 40))).isExhausted)
            #expect(!device.purge(PurgeOrder(.available(outcome.available / 2))).isExhausted)
        }
    }

    @Test func `nothing of a running app goes, until it has ended`() throws {
        try with { device in
            try fill(device)
            let hold = device.running.hold(PurgedDevice.notes)
            let outcome = device.purge(PurgeOrder(.everything))
            #expect(outcome.purged.isEmpty)
            #expect(outcome.skipped.map(\.reason) == Array(repeating: .appRunning, count: 4))
            #expect(device.purger.purgeable == 0)
            device.running.release(hold)
            #expect(device.purger.purgeable >= 4 << 20)
            #expect(device.purge(PurgeOrder(.everything)).purged.count == 4)
        }
    }

    @Test func `however many threads carry a plan out, it is told in its order, each entry once`() throws {
        try with { device in
            let names = (0..<200).map { "tmp/\(1000 + $0)" }
            for (number, name) in names.enumerated() { try device.put(name, kibibytes: 4, age: Int64(1000 - number)) }
            // What several entries are names of comes free once, and was used when that file was.
            for name in names[100...] {
                try FileManager.default.removeItem(atPath: "\(device.container)/\(name)")
                try FileManager.default.linkItem(
                    atPath: "\(device.container)/\(names[0])", toPath: "\(device.container)/\(name)")
            }
            try device.start()
            let outcome = device.purge(PurgeOrder(.everything))
            let order = Array(names[..<1]) + Array(names[100...]) + Array(names[1..<100])
            #expect(outcome.purged.map(\.unit.path) == order)
            #expect(outcome.freed == 100 * 4096)
            #expect(device.entries.isEmpty)
            #expect(device.told.sorted() == names)
        }
    }

    @Test func `an app that begins to run while a plan is carried out loses no more`() throws {
        try with { device in
            for number in 0..<200 { try device.put("tmp/\(1000 + number)", kibibytes: 4, age: Int64(1000 - number)) }
            try device.start()
            // It is asked between two windows of the plan.
            let outcome = device.purger.purge(PurgeOrder(.everything)) { done in
                if done > 0 { _ = device.running.hold(PurgedDevice.notes) }
                return true
            }
            let purged = try #require(outcome).purged.count
            #expect((1..<200).contains(purged))
            #expect(outcome?.skipped.map(\.reason) == Array(repeating: .appRunning, count: 200 - purged))
            #expect(device.entries.count == 200 - purged)
        }
    }

    @Test func `an app that an operation is at work on is left alone`() throws {
        try with { device in
            try fill(device)
            let outcome = try device.operations.run(on: PurgedDevice.notes) { () throws(Complaint) in
                device.purge(PurgeOrder(.everything))
            }
            #expect(outcome.skipped.map(\.reason) == Array(repeating: .appBusy, count: 4))
            #expect(device.entries.count == 4)
        }
    }

    @Test func `a purge that is ended in the middle says what it did not come to`() throws {
        try with { device in
            for number in 0..<200 { try device.put("tmp/\(1000 + number)", kibibytes: 4, age: Int64(1000 - number)) }
            try device.start()
            let outcome = try #require(device.purger.purge(PurgeOrder(.everything)) { $0 == 0 })
            #expect((1..<200).contains(outcome.purged.count))
            #expect(outcome.skipped.allSatisfy { $0.reason == .cancelled })
            #expect(outcome.purged.count + outcome.skipped.count == 200)
        }
    }

    @Test func `who was refused before others made room is told that there is some`() throws {
        try with(capacity: 64 << 20) { device in
            try device.start()
            #expect(device.purger.makeRoom(for: device.device.context.space.figures.available))
            // Nothing can be purged, and a purge that was tried keeps the next one away.
            #expect(!device.purger.makeRoom(for: 1 << 40))
            #expect(!device.purger.makeRoom(for: 1 << 40))
            #expect(device.purger.makeRoom(for: device.device.context.space.figures.available))
        }
    }

    @Test func `who has no room waits until there is some`() throws {
        try with(capacity: 8 << 20) { device in
            for number in 0..<6 { try device.put("tmp/\(number)", kibibytes: 1024, age: Int64(100 - number)) }
            try device.start()
            let space = device.device.context.space
            let wanted = space.figures.available + (1 << 20)
            #expect(device.purger.makeRoom(for: wanted))
            #expect(space.figures.available >= wanted)
            #expect(device.entries.first == "tmp/2" || device.entries.first == "tmp/1")
        }
    }

    @Test func `who has no room is told when nothing may go, and is not kept waiting again`() throws {
        try with(capacity: 8 << 20) { device in
            try device.put("tmp/a", kibibytes: 1024, age: 9)
            try device.start()
            let hold = device.running.hold(PurgedDevice.notes)
            #expect(!device.purger.makeRoom(for: 1 << 30))
            #expect(!device.purger.makeRoom(for: 1 << 30))
            #expect(device.entries == ["tmp/a"])
            // The app has ended: it is tried again at once.
            device.running.release(hold)
            #expect(device.purger.makeRoom(for: 1 << 30))
            #expect(device.entries.isEmpty)
        }
    }

    @Test func `nobody waits for a purger that has ended`() throws {
        try with { device in
            try fill(device)
            device.purger.stop()
            #expect(!device.purger.makeRoom(for: 1 << 30))
            #expect(device.purger.purge(PurgeOrder(.everything)) { _ in true } == nil)
            #expect(device.entries.count == 4)
        }
    }

    @Test func `news of low space is answered by the thread`() throws {
        try with(capacity: 8 << 20) { device in
            for number in 0..<7 { try device.put("tmp/\(number)", kibibytes: 1100, age: Int64(100 - number)) }
            let space = device.device.context.space
            #expect(space.figures.available < space.lowWater)
            try device.start()
            device.purger.spaceIsLow()
            // Whoever comes after it is answered after it.
            _ = device.purge(PurgeOrder(.everything, isDryRun: true))
            let deadline = ContinuousClock.now + .seconds(20)
            while space.figures.available < space.highWater, ContinuousClock.now < deadline { usleep(1000) }
            #expect(space.figures.available >= space.highWater)
            #expect(!device.entries.isEmpty)
        }
    }

    @Test func `what an earlier session has left in the trash is removed`() throws {
        try with { device in
            let trash = "\(device.device.directory.path)/Trash"
            try shell("mkdir -p '\(trash)/X/a/b'; touch '\(trash)/X/a/b/c' '\(trash)/Y'; chmod 0 '\(trash)/X/a'")
            try device.start()
            _ = device.purge(PurgeOrder(.everything))
            #expect(try FileManager.default.contentsOfDirectory(atPath: trash).isEmpty)
        }
    }
}
