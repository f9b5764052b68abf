// The entries that a plan chooses, in their order, and the reasons for the others to stay.

import SandboxModel
import Testing

@testable import Purging

@Suite("The entries that a purge takes and leaves")
struct PurgePlanTests {
    private static let notes = ContainerIdentifier("com.example.Notes")!
    private static let mail = ContainerIdentifier("com.example.Mail")!

    /// A unit by its name; the later in the alphabet, the larger.
    private static func unit(
        _ name: String, used time: Int64, bytes: Int64 = 100, of app: ContainerIdentifier = notes,
        in directory: PurgeableDirectory = .caches, open: Bool = false
    ) -> PurgeUnit {
        PurgeUnit(
            app: app, directory: directory, name: FileName(name)!, bytes: bytes, lastUse: time, isOpen: open)
    }

    /// A plan, by the units' names.
    private struct Told: Equatable {
        var chosen: [String]
        var skipped: [String]
    }

    private func told(
        _ units: [PurgeUnit], _ extent: PurgeDemand.Extent, of app: ContainerIdentifier? = nil,
        running: Set<ContainerIdentifier> = []
    ) -> Told {
        let plan = PurgePlan(units, running: running, demand: PurgeDemand(extent, of: app))
        #expect(plan.chosen.count + plan.skipped.count == units.count, "each unit goes or stays")
        #expect(plan.bytes == plan.chosen.reduce(0) { $0 + units[$1.unit].bytes })
        return Told(
            chosen: plan.chosen.map { units[$0.unit].name.text },
            skipped: plan.skipped.map { "\(units[$0.unit].name.text): \($0.reason)" })
    }

    @Test func `the least recently used goes first, whatever the order in which units are given`() {
        let units = [("c", 3), ("a", 1), ("d", 4), ("b", 2)].map { PurgePlanTests.unit($0, used: $1) }
        #expect(told(units, .everything).chosen == ["a", "b", "c", "d"])
        #expect(told(units.reversed(), .everything).chosen == ["a", "b", "c", "d"])
    }

    @Test func `the plan stops as soon as it has enough, and takes units whole`() {
        let units = (1...5).map { PurgePlanTests.unit("\($0)", used: Int64($0)) }
        let expected = Told(
            chosen: ["1", "2", "3"], skipped: ["4: targetReached", "5: targetReached"])
        #expect(told(units, .bytes(201)) == expected)
        #expect(told(units, .bytes(300)) == expected)
        #expect(told(units, .bytes(0)).chosen.isEmpty)
        #expect(told(units, .bytes(-7)).chosen.isEmpty)
    }

    @Test func `a plan says whether it is enough`() {
        let units = [PurgePlanTests.unit("a", used: 1), PurgePlanTests.unit("b", used: 2)]
        #expect(PurgePlan(units, running: [], demand: PurgeDemand(.bytes(200))).isEnough)
        #expect(!PurgePlan(units, running: [], demand: PurgeDemand(.bytes(201))).isEnough)
        #expect(PurgePlan([], running: [], demand: PurgeDemand(.everything)).isEnough)
    }

    @Test func `no entry of a running app goes, and other apps' entries go for it`() {
        let units = [
            PurgePlanTests.unit("old", used: 1), PurgePlanTests.unit("new", used: 9, of: PurgePlanTests.mail),
        ]
        let expected = Told(chosen: ["new"], skipped: ["old: appRunning"])
        #expect(told(units, .bytes(100), running: [PurgePlanTests.notes]) == expected)
        #expect(told(units, .everything, running: [PurgePlanTests.notes]) == expected)
    }

    @Test func `an entry with an open file stays, and the next one goes in its place`() {
        let units = [
            PurgePlanTests.unit("a", used: 1, open: true), PurgePlanTests.unit("b", used: 2),
            PurgePlanTests.unit("c", used: 3),
        ]
        let expected = Told(chosen: ["b"], skipped: ["a: fileOpen", "c: targetReached"])
        #expect(told(units, .bytes(50)) == expected)
    }

    @Test func `only entries that were unused for so long go`() {
        let units = [PurgePlanTests.unit("old", used: 99), PurgePlanTests.unit("new", used: 100)]
        #expect(told(units, .unused(since: 100)) == Told(chosen: ["old"], skipped: ["new: usedRecently"]))
    }

    @Test func `only the app that was named loses something`() {
        let units = [
            PurgePlanTests.unit("a", used: 1), PurgePlanTests.unit("b", used: 2, of: PurgePlanTests.mail),
        ]
        let expected = Told(chosen: ["b"], skipped: ["a: otherApp"])
        #expect(told(units, .everything, of: PurgePlanTests.mail) == expected)
    }

    // S-PURGE-10
    @Test func `an entry of a group goes when no app of the group runs, and with any of them`() {
        let third = ContainerIdentifier("com.example.Third")!
        let group = PurgeUnit.Group(
            ContainerIdentifier("group.com.example")!, of: [PurgePlanTests.mail, PurgePlanTests.notes])
        let shared = PurgeUnit(
            app: PurgePlanTests.mail, group: group, directory: .caches, name: "a", bytes: 100, lastUse: 1, isOpen: false
        )
        // Of one age and one name, as an app's own.
        let units = [shared, PurgePlanTests.unit("a", used: 1, of: PurgePlanTests.mail)]
        #expect(shared.path == "Groups/group.com.example/Library/Caches/a")
        let plan = PurgePlan(units, running: [], demand: PurgeDemand(.everything))
        #expect(plan.chosen.map(\.unit) == [1, 0])
        for app in [PurgePlanTests.mail, PurgePlanTests.notes] {
            #expect(told([shared], .everything, running: [app]).skipped == ["a: appRunning"])
            #expect(told([shared], .everything, of: app).chosen == ["a"])
        }
        #expect(told([shared], .everything, running: [third]).chosen == ["a"])
        #expect(told([shared], .everything, of: third).skipped == ["a: otherApp"])
    }

    @Test func `an empty entry stays if a purge is to free space`() {
        let units = [PurgePlanTests.unit("a", used: 1, bytes: 0), PurgePlanTests.unit("b", used: 2)]
        #expect(told(units, .bytes(100)) == Told(chosen: ["b"], skipped: ["a: empty"]))
        #expect(told(units, .everything).chosen == ["a", "b"])
    }

    @Test func `units of one age go by app, directory and name`() {
        var units: [PurgeUnit] = []
        for app in [PurgePlanTests.notes, PurgePlanTests.mail] {
            for directory in [PurgeableDirectory.temporary, .caches] {
                for name in ["b", "a", "aa"] {
                    units.append(PurgePlanTests.unit(name, used: 7, of: app, in: directory))
                }
            }
        }
        let plan = PurgePlan(units, running: [], demand: PurgeDemand(.everything))
        let places = plan.chosen.map { choice in
            let unit = units[choice.unit]
            return "\(unit.app) \((unit.directory.path + [unit.name]).text)"
        }
        let names = ["Library/Caches/a", "Library/Caches/aa", "Library/Caches/b", "tmp/a", "tmp/aa", "tmp/b"]
        #expect(places == ["com.example.Mail", "com.example.Notes"].flatMap { app in names.map { "\(app) \($0)" } })
    }

    @Test func `reasons tell what a unit went for`() {
        let units = [PurgePlanTests.unit("a", used: 1)]
        let reasons = [PurgeDemand.Extent.bytes(1), .everything, .unused(since: 2)].map { extent in
            PurgePlan(units, running: [], demand: PurgeDemand(extent)).chosen.first?.reason
        }
        #expect(reasons == [.leastRecentlyUsed, .purgeable, .unused])
    }

    @Test func `a hundred thousand units are planned in one sitting`() {
        var state: UInt64 = 1
        let units = (0..<100_000).map { number in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Few ages, so that most of them are compared by name as well.
            return PurgePlanTests.unit("unit-\(number)", used: Int64(state >> 54), bytes: 4096)
        }
        let begin = ContinuousClock.now
        let plan = PurgePlan(units, running: [], demand: PurgeDemand(.bytes(50_000 * 4096)))
        let time = ContinuousClock.now - begin
        #expect(plan.chosen.count == 50_000)
        let ages = (plan.chosen.map(\.unit) + plan.skipped.map(\.unit)).map { units[$0].lastUse }
        #expect(zip(ages, ages.dropFirst()).allSatisfy { $0 <= $1 })
        // Without optimization it takes ten times as long; the bound is for an order of magnitude, not for a benchmark.
        #expect(time < .seconds(10))
    }
}
