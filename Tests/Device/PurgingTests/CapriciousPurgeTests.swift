// A device that disobeys: entries that are spared, that go early, and Library/Caches that goes itself.

import BackingStore
import DeviceLifecycle
import Foundation
import SandboxModel
import TestSupport
import Testing

@testable import Purging

@Suite struct CapriciousPurgeTests {
    private func fill(_ device: PurgedDevice, _ count: Int, from first: Int = 0) throws {
        for index in first..<first + count { try device.put("tmp/\(index)", kibibytes: 4, age: 1000 - Int64(index)) }
    }

    // S-CAPRICE-2
    @Test func `some entries are spared, each is told, and a device of the same seed does the same`() throws {
        var told: [[String]] = []
        for _ in 0..<2 {
            let device = try PurgedDevice(seed: "42")
            try device.start()
            try fill(device, 40)
            let outcome = device.purge(PurgeOrder(.everything))
            let spared = outcome.skipped.filter { $0.reason == .spared }.map(\.unit.path)
            #expect((1..<40).contains(spared.count) && spared.count + outcome.purged.count == 40)
            #expect(device.environment.disobeyed.filter { $0.hasPrefix("spared") } == spared.map { "spared \($0)" })
            #expect(device.entries == spared.sorted())
            told.append(device.environment.disobeyed)
            device.purger.stop()
        }
        #expect(told[0] == told[1])
    }

    @Test func `what was spared goes in a later turn`() throws {
        let device = try PurgedDevice(seed: "42")
        try device.start()
        defer { device.purger.stop() }
        try fill(device, 40)
        for _ in 0..<40 where !device.entries.isEmpty { _ = device.purge(PurgeOrder(.everything)) }
        #expect(device.entries.isEmpty)
    }

    @Test func `some entries go before their turn`() throws {
        let device = try PurgedDevice(seed: "42")
        try device.start()
        defer { device.purger.stop() }
        try fill(device, 40)
        let outcome = device.purge(PurgeOrder(.unused(for: 980 * 1_000_000_000)))
        let early = outcome.purged.filter { $0.reason == .disobeyed }.map(\.unit.path)
        #expect(!early.isEmpty)
        #expect(
            device.environment.disobeyed.filter { $0.hasPrefix("purgedEarly") } == early.map { "purgedEarly \($0)" })
        #expect(outcome.skipped.contains { $0.reason == .usedRecently })
    }

    @Test func `nobody is refused space that is there`() {
        let units = (0..<8).map { index in
            PurgeUnit(
                app: PurgedDevice.notes, directory: .caches, name: FileName("\(index)")!, bytes: 100,
                lastUse: Int64(index), isOpen: false)
        }
        func chosen(_ bytes: Int64) -> [Int] {
            let plan = PurgePlan(units, running: [], demand: PurgeDemand(.bytes(bytes))) { deed, unit in
                deed == .spared && unit.lastUse % 2 == 0
            }
            #expect(plan.isEnough)
            return plan.chosen.map(\.unit)
        }
        #expect(chosen(200) == [1, 3])
        #expect(chosen(800) == [1, 3, 5, 7, 0, 2, 4, 6])
        #expect(chosen(500) == [1, 3, 5, 7, 0])
        let running = PurgePlan(units, running: [PurgedDevice.notes], demand: PurgeDemand(.everything)) { _, _ in true }
        #expect(running.chosen.isEmpty)
    }

    // S-CAPRICE-3
    @Test func `one day Library/Caches itself is gone, with what is in it, and an app that runs keeps it`() throws {
        let device = try PurgedDevice(seed: "7")
        try device.start()
        defer { device.purger.stop() }
        let caches = "\(device.container)/Library/Caches"
        func isThere() -> Bool { FileManager.default.fileExists(atPath: caches) }
        device.environment.begin(PurgedDevice.notes)
        for _ in 0..<100 { _ = device.purge(PurgeOrder(.available(0))) }
        #expect(isThere())
        device.environment.end(PurgedDevice.notes)
        var turns = 0
        while isThere(), turns < 200 {
            if try FileManager.default.contentsOfDirectory(atPath: caches).isEmpty {
                try device.put("Library/Caches/entry", kibibytes: 4, age: 1)
            }
            // The order of a daily event: nothing else is asked for.
            _ = device.purge(PurgeOrder(.available(0)))
            turns += 1
        }
        #expect(!isThere() && device.environment.disobeyed.last == "removedCaches Library/Caches")
        #expect(device.recorded.last == "Library/Caches/entry")
        // Nothing is left to purge, and the next turns pass.
        _ = device.purge(PurgeOrder(.everything))
        try FileManager.default.createDirectory(atPath: caches, withIntermediateDirectories: false)
        try device.put("Library/Caches/anew", kibibytes: 4, age: 1)
        for _ in 0..<40 where isThere() && FileManager.default.fileExists(atPath: caches + "/anew") {
            _ = device.purge(PurgeOrder(.everything))
        }
        #expect(device.recorded.last == "Library/Caches/anew")
    }

    @Test func `the regular work on tmp spares nothing, and takes Library-Caches away one day`() throws {
        let device = try PurgedDevice(seed: "42")
        try device.start()
        defer { device.purger.stop() }
        try fill(device, 40)
        try device.put("tmp/new", kibibytes: 4, age: 1)
        let outcome = device.purge(.cleaning(unusedFor: 500 * 1_000_000_000))
        #expect(outcome.purged.count == 40 && outcome.skipped.map(\.reason) == [.usedRecently])
        for _ in 0..<200 where FileManager.default.fileExists(atPath: "\(device.container)/Library/Caches") {
            _ = device.purge(.cleaning(unusedFor: 500 * 1_000_000_000))
        }
        #expect(device.environment.disobeyed == ["removedCaches Library/Caches"])
        #expect(device.entries(of: "tmp") == ["tmp/new"])
    }

    @Test func `a dry run tells of the turn and ends none`() throws {
        let device = try PurgedDevice(seed: "42")
        try device.start()
        defer { device.purger.stop() }
        try fill(device, 40)
        var dry = PurgeOrder(.everything)
        dry.isDryRun = true
        let told = [device.purge(dry), device.purge(dry)].map { $0.skipped.map(\.unit.path) }
        #expect(told[0] == told[1] && device.environment.disobeyed.isEmpty)
        #expect(device.purge(PurgeOrder(.everything)).skipped.map(\.unit.path) == told[0])
    }
}
