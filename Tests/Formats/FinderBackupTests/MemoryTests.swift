// A backup takes as much memory for many files as for few.

import BackupModel
import FinderBackup
import Foundation
import SandboxModel
import TestSupport
import Testing

@Suite struct MemoryTests {
    /// All of their attributes take twice what is allowed.
    private static let directories = 40
    private static let entriesInEach = 150
    private static let attribute = BackupEntry.Attribute(name: Array("user.x".utf8), value: Sample.bytes(4000))
    private static let allowedKilobytes = 12 << 10

    @Test func sixThousandEntriesAreWrittenContinuedAndReadInLittle() throws {
        let scratch = Scratch()
        // What is loaded and cached once is not counted.
        _ = try write(Sample.items, to: scratch["warm"])
        _ = try read(scratch["warm"])
        let before = residentKilobytes()
        try writeMany(to: scratch["base"], since: nil)
        #expect(residentKilobytes() - before < Self.allowedKilobytes)
        try writeMany(to: scratch["out"], since: scratch["base"])
        #expect(residentKilobytes() - before < Self.allowedKilobytes)
        let source = try FinderBackupSource(path: scratch["out"], password: nil)
        var count = 0
        while try source.next() != nil { count += 1 }
        #expect(count == 1 + Self.directories * (1 + Self.entriesInEach))
        #expect(residentKilobytes() - before < Self.allowedKilobytes)
    }

    private func writeMany(to path: String, since base: String?) throws {
        let sink = try FinderBackupSink(
            path: path, apps: [], device: Sample.device, date: Sample.date, since: base)
        func give(_ item: Item) throws {
            let isContinued = try base != nil && sink.continues(item.entry, goOn: { true }, digest: { nil })
            #expect(isContinued == (base != nil))
            if !isContinued { try sink.begin(item.entry) }
        }
        try give(Item(""))
        for directory in 0..<Self.directories {
            let name = "directory-\(1000 + directory)"
            try give(Item(name))
            for entry in 0..<Self.entriesInEach {
                try give(
                    Item("\(name)/\(1000 + entry)", .symbolicLink(Array("x".utf8)), attributes: [Self.attribute]))
            }
        }
        try sink.finish()
    }

    private func residentKilobytes() -> Int {
        let status = try! String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }!
        return Int(line.split(whereSeparator: { !$0.isNumber })[0])!
    }
}
