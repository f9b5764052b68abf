// The purger of a device of which nothing is mounted: what it takes, when, and how writers wait for it.

import BackingStore
import DeviceLifecycle
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import Purging

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
            #expect(device.recorded == PurgerTests.files.map(\.0))
            #expect(outcome.freed >= 4 << 20)
            #expect(device.entries.isEmpty)
        }
    }

    @Test func `a dry run takes nothing, and reports the same`() throws {
        try with { device in
            try fill(device)
            let dry = device.purge(PurgeOrder(.everything, isDryRun: true))
            #expect(dry.purged.map(\.unit.path) == PurgerTests.files.map(\.0))
            #expect(device.entries.count == 4)
            #expect(device.recorded.isEmpty)
            #expect(device.purge(PurgeOrder(.everything)).freed == dry.freed)
        }
    }

    @Test func `entries that are old enough go`() throws {
        try with { device in
            try fill(device)
            let outcome = device.purge(PurgeOrder(.unused(for: 25_000_000_000)))
            #expect(outcome.purged.map(\.unit.path) == ["Library/Caches/a", "tmp/b"])
            #expect(outcome.skipped.map(\.reason) == [.usedRecently, .usedRecently])
        }
    }

    @Test func `a purge stops when as much is available as was asked for`() throws {
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

    @Test func `a purge that cannot reach its target takes all that may go`() throws {
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
            device.environment.begin(PurgedDevice.notes)
            let outcome = device.purge(PurgeOrder(.everything))
            #expect(outcome.purged.isEmpty)
            #expect(outcome.skipped.map(\.reason) == Array(repeating: .appRunning, count: 4))
            #expect(device.purger.purgeable == 0)
            device.environment.end(PurgedDevice.notes)
            #expect(device.purger.purgeable >= 4 << 20)
            #expect(device.purge(PurgeOrder(.everything)).purged.count == 4)
        }
    }

    @Test func `a plan that several threads carry out is reported in its order, each entry once`() throws {
        try with { device in
            let names = (0..<200).map { "tmp/\(1000 + $0)" }
            for (number, name) in names.enumerated() { try device.put(name, kibibytes: 4, age: Int64(1000 - number)) }
            // A file that several entries are names of comes free once, and is as old in each of them.
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
            #expect(device.recorded.sorted() == names)
        }
    }

    @Test func `an app that begins to run while a plan is carried out loses no more`() throws {
        try with { device in
            for number in 0..<200 { try device.put("tmp/\(1000 + number)", kibibytes: 4, age: Int64(1000 - number)) }
            try device.start()
            // It is asked between two windows of the plan.
            let outcome = device.purger.purge(PurgeOrder(.everything)) { done in
                if done > 0 { device.environment.begin(PurgedDevice.notes) }
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
            let outcome = device.environment.whileBusy(PurgedDevice.notes) { device.purge(PurgeOrder(.everything)) }
            #expect(outcome.skipped.map(\.reason) == Array(repeating: .appBusy, count: 4))
            #expect(device.entries.count == 4)
        }
    }

    @Test func `a purge that is ended in the middle reports the entries that it did not come to`() throws {
        try with { device in
            for number in 0..<200 { try device.put("tmp/\(1000 + number)", kibibytes: 4, age: Int64(1000 - number)) }
            try device.start()
            let outcome = try #require(device.purger.purge(PurgeOrder(.everything)) { $0 == 0 })
            #expect((1..<200).contains(outcome.purged.count))
            #expect(outcome.skipped.allSatisfy { $0.reason == .cancelled })
            #expect(outcome.purged.count + outcome.skipped.count == 200)
        }
    }

    @Test func `a writer that was refused before others made space is told that there is some`() throws {
        try with(capacity: 64 << 20) { device in
            try device.start()
            #expect(device.purger.makeSpace(for: device.device.context.space.figures.available))
            // Nothing can be purged, and a purge that was tried keeps the next one away.
            #expect(!device.purger.makeSpace(for: 1 << 40))
            #expect(!device.purger.makeSpace(for: 1 << 40))
            #expect(device.purger.makeSpace(for: device.device.context.space.figures.available))
        }
    }

    @Test func `a writer without space waits until there is some`() throws {
        try with(capacity: 8 << 20) { device in
            for number in 0..<6 { try device.put("tmp/\(number)", kibibytes: 1024, age: Int64(100 - number)) }
            try device.start()
            let space = device.device.context.space
            let wanted = space.figures.available + (1 << 20)
            #expect(device.purger.makeSpace(for: wanted))
            #expect(space.figures.available >= wanted)
            #expect(device.entries.first == "tmp/2" || device.entries.first == "tmp/1")
        }
    }

    @Test func `a writer without space is told when nothing may go, and is not kept waiting again`() throws {
        try with(capacity: 8 << 20) { device in
            try device.put("tmp/a", kibibytes: 1024, age: 9)
            try device.start()
            device.environment.begin(PurgedDevice.notes)
            #expect(!device.purger.makeSpace(for: 1 << 30))
            #expect(!device.purger.makeSpace(for: 1 << 30))
            #expect(device.entries == ["tmp/a"])
            // The app has ended: it is tried again at once.
            device.environment.end(PurgedDevice.notes)
            #expect(device.purger.makeSpace(for: 1 << 30))
            #expect(device.entries.isEmpty)
        }
    }

    @Test func `a purger that has ended keeps nobody waiting`() throws {
        try with { device in
            try fill(device)
            device.purger.stop()
            #expect(!device.purger.makeSpace(for: 1 << 30))
            #expect(device.purger.purge(PurgeOrder(.everything)) { _ in true } == nil)
            #expect(device.entries.count == 4)
        }
    }

    @Test func `the purger's thread answers news of low space`() throws {
        try with(capacity: 8 << 20) { device in
            for number in 0..<7 { try device.put("tmp/\(number)", kibibytes: 1100, age: Int64(100 - number)) }
            let space = device.device.context.space
            #expect(space.figures.available < space.lowWater)
            try device.start()
            device.purger.spaceIsLow()
            // The thread carries out the commands of a turn first: what comes after one of them is in a later turn.
            for _ in 0..<2 { _ = device.purge(PurgeOrder(.everything, isDryRun: true)) }
            #expect(space.figures.available >= space.highWater)
            #expect(!device.entries.isEmpty)
        }
    }

    @Test func `entries that an earlier session has left in the trash are removed`() throws {
        try with { device in
            let trash = "\(device.device.directory.path)/Trash"
            try shell("mkdir -p '\(trash)/X/a/b'; touch '\(trash)/X/a/b/c' '\(trash)/Y'; chmod 0 '\(trash)/X/a'")
            try device.start()
            _ = device.purge(PurgeOrder(.everything))
            #expect(try FileManager.default.contentsOfDirectory(atPath: trash).isEmpty)
        }
    }
}
