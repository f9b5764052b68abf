// Access tracking: calls that count as a use, the entry that is used, and the record. The clock is the test's.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

/// A clock that stands still until it is set.
private final class TestClock: Sendable {
    private let seconds = Mutex<Int64>(1000)
    var now: HostTime { HostTime(nanoseconds: seconds.withLock { $0 } * 1_000_000_000) }
    func set(_ time: Int64) { seconds.withLock { $0 = time } }
}

@Suite("When a purgeable entry was used last")
struct AccessRecordTests {
    private let clock: TestClock
    private let home: TestHome
    private var volume: Volume { home.volume }
    private let caches: NodeID

    init() throws {
        let clock = TestClock()
        self.clock = clock
        home = try TestHome(clock: { clock.now })
        caches = try home.volume.node("Library/Caches")
    }

    /// The purgeable entries, the least recently used first, as `name@seconds`.
    private var uses: [String] {
        let data = try! Descriptor.open(path: "\(home.directory)/data", flags: O_RDONLY | O_DIRECTORY)
        let entries = try! home.context.purgeableEntries(of: data, open: volume.openInodes)
        return entries.sorted { ($0.lastUse, $0.name.text) < ($1.lastUse, $1.name.text) }
            .map { "\($0.name.text)@\($0.lastUse.nanoseconds / 1_000_000_000)" }
    }

    @discardableResult
    private func at<Result>(_ time: Int64, _ body: () throws -> Result) rethrows -> Result {
        clock.set(time)
        return try body()
    }

    @Test func `creating, opening and closing a file is a use, and so is making a directory there`() throws {
        try at(1) { _ = try volume.makeDirectory("made", in: caches) }
        try at(2) { try volume.make("file", in: caches, "text") }
        #expect(uses == ["made@1", "file@2"])
        let file = try volume.node("Library/Caches/file")
        let handle = try volume.open(file, flags: O_RDONLY)
        at(3) { volume.close(handle) }
        #expect(uses == ["made@1", "file@3"])
        try at(4) { volume.close(try volume.open(file, flags: O_RDONLY)) }
        #expect(uses == ["made@1", "file@4"])
    }

    @Test func `a file at any depth is a use of the entry that it lies in`() throws {
        try at(1) { try volume.make("other", in: caches) }
        try at(2) {
            let outer = try volume.makeDirectory("outer", in: caches).node
            let inner = try volume.makeDirectory("inner", in: outer).node
            try volume.make("file", in: inner)
        }
        try at(5) { volume.close(try volume.open(try volume.node("Library/Caches/outer/inner/file"), flags: O_RDONLY)) }
        #expect(uses == ["other@1", "outer@5"])
    }

    @Test func `looking is no use, and neither is making a directory further down`() throws {
        try at(1) {
            let unit = try volume.makeDirectory("unit", in: caches).node
            try volume.make("file", in: unit)
        }
        try at(9) {
            let unit = try volume.node("Library/Caches/unit")
            _ = try volume.status(of: try volume.node("Library/Caches/unit/file"), handle: nil)
            _ = try volume.names(in: unit)
            _ = try volume.attributeNames(of: unit)
            _ = try volume.makeDirectory("deeper", in: unit)
        }
        #expect(uses == ["unit@1"])
    }

    @Test func `an application cannot set it, nor see it`() throws {
        try at(1) { try volume.make("file", in: caches) }
        let file = try volume.node("Library/Caches/file")
        let name = Array(UseRecord.attributeName.utf8)
        at(9) {
            var change = FileStatusChange()
            change.accessTime = .at(timespec(tv_sec: 7_000_000_000, tv_nsec: 0))
            change.modificationTime = .at(timespec(tv_sec: 7_000_000_000, tv_nsec: 0))
            #expect(throws: Never.self) { try volume.changeStatus(change, of: file, handle: nil) }
            #expect(throws: Fault.refused(.computedAttribute)) {
                try volume.setAttribute(name, to: Array("7000000000000000000".utf8), flags: 0, of: file)
            }
            #expect(throws: Fault.refused(.computedAttribute)) { try volume.removeAttribute(name, of: file) }
        }
        home.context.uses.writeDown()
        #expect(uses == ["file@1"])
        #expect(throws: Fault.errno(ENODATA)) { try volume.attribute(name, of: file) }
        #expect(try volume.attributeNames(of: file).isEmpty)
    }

    @Test func `it outlives the session, once it was written down`() throws {
        try at(3) { try volume.make("file", in: caches) }
        try at(4) { _ = try volume.makeDirectory("directory", in: try volume.node("tmp")) }
        home.context.uses.writeDown()
        try home.restart()
        #expect(uses == ["file@3", "directory@4"])
    }

    @Test func `it goes along when an entry is renamed, and when it moves to the other directory`() throws {
        let tmp = try volume.node("tmp")
        try at(3) { try volume.make("file", in: caches) }
        try at(7) {
            try volume.rename("file", in: caches, to: "new", in: caches, mode: .replacing)
            #expect(uses == ["new@3"])
            try volume.rename("new", in: caches, to: "newer", in: tmp, mode: .replacing)
        }
        #expect(uses == ["newer@3"])
        home.context.uses.writeDown()
        try home.restart()
        #expect(uses == ["newer@3"])
    }

    @Test func `an entry without a recorded use counts from its birth`() throws {
        let before = HostTime.now.nanoseconds / 1_000_000_000
        try at(before + 60) { try home.store("text", at: "Library/Caches/system") }
        let told = try #require(uses.first)
        let time = try #require(Int64(told.split(separator: "@")[1]))
        #expect((before - 1...before + 60).contains(time))
    }

    @Test(arguments: [Int64(86_000), 87_000, 6_000_000_000])
    func `a use of the next day counts as one of now, and a later one as none`(ahead: Int64) throws {
        let now: Int64 = 3_000_000_000
        try at(now + ahead) { try volume.make("file", in: caches) }
        for isWritten in [false, true] {
            if isWritten { home.context.uses.writeDown() }
            let told = try #require(at(now) { uses.first })
            // Its birth is that of this test.
            #expect((told == "file@\(now)") == (ahead < 86_400), "\(told)")
        }
    }

    @Test func `one that takes the place of a removed entry has its own age`() throws {
        try at(1) { try volume.make("file", in: caches) }
        try at(5) {
            try volume.removeFile("file", in: caches)
            try volume.make("file", in: caches)
        }
        #expect(uses == ["file@5"])
    }

    @Test func `a file elsewhere is no use of anything`() throws {
        try at(5) {
            try volume.make("file", in: try volume.node("Documents"))
            try volume.make("file", in: try volume.node("Library/Preferences"))
            try volume.make("file", in: try volume.node("Groups/\(TestHome.group)"))
        }
        #expect(uses.isEmpty)
    }

    @Test func `a file with names in two entries is a use of both`() throws {
        let one = try volume.makeDirectory("one", in: caches).node
        let two = try volume.makeDirectory("two", in: caches).node
        let file = try volume.make("file", in: one)
        _ = try volume.link(file, to: "file", in: two)
        try at(1500) { volume.close(try volume.open(file, flags: O_RDONLY)) }
        #expect(uses == ["one@1500", "two@1500"])
    }
}
