// The uses of a volume, as engines begin and end them; and the files of records.

import BackingStore
import Foundation
import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import Volumes

@Suite struct VolumeUseTests {
    private var record: VolumeRecord

    init() throws {
        record = VolumeRecord(
            name: try VolumeName("one"), options: ["template": "phone"], device: try VolumeName("one"), app: nil)
    }

    @Test mutating func `a use that begins twice ends once`() {
        record.begin("a", boot: "boot")
        record.begin("a", boot: "boot")
        #expect(record.uses == ["a"])
        record.end("a")
        #expect(record.uses.isEmpty)
    }

    @Test mutating func `the only use ends by another identifier too`() {
        record.begin("a", boot: "boot")
        record.end("unknown")
        #expect(record.uses.isEmpty)
    }

    @Test mutating func `an end that is told twice takes nobody else's use`() {
        record.begin("a", boot: "boot")
        record.begin("b", boot: "boot")
        record.end("a")
        record.end("a")
        #expect(record.uses == ["b"])
    }

    @Test mutating func `of several uses an unknown end takes none`() {
        record.begin("a", boot: "boot")
        record.begin("b", boot: "boot")
        record.end("unknown")
        #expect(record.uses == ["a", "b"])
    }

    @Test mutating func `a use that begins again has not ended`() {
        record.begin("a", boot: "boot")
        record.end("a")
        record.begin("a", boot: "boot")
        record.end("a")
        #expect(record.uses.isEmpty)
        for number in 0..<100 { record.end("\(number)") }
        #expect(record.ended.count == VolumeRecord.mostEnded)
    }
}

@Suite struct RecordTableTests {
    private let scratch = Scratch()

    private func table() throws -> RecordTable<VolumeRecord> {
        try RecordTable(SharedDescriptor(try Descriptor.openDirectory(path: scratch.path)), path: scratch.path)
    }

    private func record(_ name: String) throws -> VolumeRecord {
        VolumeRecord(name: try VolumeName(name), options: [:], device: try VolumeName(name), app: nil)
    }

    @Test func `a record that was half written goes with the next start`() throws {
        let first = try table()
        try first.write(record("a"))
        try "{".write(toFile: scratch[".b.json.new"], atomically: false, encoding: .utf8)
        #expect(try table().records.map(\.name) == ["a"])
        #expect(scratch.names == ["a.json"])
    }

    @Test func `records are there again in another process, in the order of their names`() throws {
        let first = try table()
        for name in ["b", "a", "c"] { try first.write(record(name)) }
        try first.remove("c")
        try first.remove("never there")
        let second = try table()
        #expect(second.records.map(\.name) == ["a", "b"])
        #expect(try second.record("a")?.device == "a")
        #expect(try second.record("c") == nil)
        #expect(!second.hasUnreadable)
    }

    @Test(arguments: ["", "{}", "[", "{\"name\": \"other\"}", "\0"])
    func `a damaged record is told, and taken for nobody's`(_ content: String) throws {
        try table().write(record("a"))
        try content.write(toFile: scratch["b.json"], atomically: false, encoding: .utf8)
        let table = try table()
        #expect(complaint { _ = try table.record("b") }?.kind == .damaged)
        #expect(table.hasUnreadable)
        #expect(table.records.map(\.name) == ["a"])
        try table.remove("b")
        #expect(!table.hasUnreadable)
    }

    @Test func `a record of a newer version is told`() throws {
        var newer = try record("a")
        newer.format = VolumeRecord.currentFormat + 1
        try table().write(newer)
        let table = try table()
        #expect(complaint { _ = try table.record("a") }?.kind == .newerFormat)
    }

    @Test func `a record that lies under another's name is damaged`() throws {
        try table().write(record("a"))
        try shell("mv '\(scratch["a.json"])' '\(scratch["b.json"])'")
        let table = try table()
        #expect(complaint { _ = try table.record("b") }?.kind == .damaged)
    }

    @Test func `a file that is no record is left as it is`() throws {
        try shell("cd '\(scratch.path)' && touch .a.json a.txt && mkdir c && ln -s /etc/passwd d.json")
        let table = try table()
        #expect(table.records.isEmpty)
        #expect(complaint { _ = try table.record("d") } != nil, "a link is followed")
        #expect(scratch.names == [".a.json", "a.txt", "c", "d.json"])
    }
}
