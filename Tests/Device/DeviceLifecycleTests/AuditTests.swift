// Tests of the findings of an audit.

import BackingStore
import Foundation
import Platform
import SandboxModel
import SandboxPolicy
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct AuditTests {
    let scratch = Scratch()
    let notes = id("com.example.Notes")

    private func write(_ device: BootedDevice, _ path: String, _ count: Int = 100) throws {
        let full = try device.backingPath(of: notes, .data) + "/" + path
        let parent = (full as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        let file = NewFile(
            FileName((full as NSString).lastPathComponent)!, mode: 0o640, owner: .current, protection: .standard)
        try file.write(
            in: try Descriptor.open(path: parent, flags: O_RDONLY | O_DIRECTORY), context: device.context
        ) { (file) throws(Fault) in
            if count > 0 { try file.truncate(to: Int64(count)) }
        }
    }

    private func rules(_ audit: ContainerAudit) -> [String] {
        audit.findings.map { "\($0.rule) \($0.path.text) \($0.bytes)" }
    }

    @Test func `a directory of what can be made again is one finding, as large as all in it`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        try write(device, "Documents/Downloads/a/b", 1000)
        try write(device, "Documents/Downloads/c.part", 10)
        try write(device, "Documents/d.part", 1)
        let audit = try device.audit(notes)
        #expect(
            rules(audit) == ["recreatableBackedUp Documents/Downloads 1010", "recreatableBackedUp Documents/d.part 1"])
        #expect(!audit.isPassed)
    }

    @Test func `advice alone lets an audit pass`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        try write(device, "Documents/letter.txt")
        let audit = try device.audit(notes)
        #expect(rules(audit) == ["documentReadableWhileLocked Documents/letter.txt 100"])
        #expect(audit.isPassed)
    }

    @Test func `sizes are told of the directories of two levels, with what stays out`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        try write(device, "Library/Application Support/x/y/z", 500)
        try write(device, "Library/Caches/c", 40)
        try write(device, "Documents/n", 7)
        let shares = try device.audit(notes).shares.filter { $0.bytes > 0 || $0.leftOut > 0 }
        #expect(
            shares.map { "\($0.path.text) \($0.files) \($0.bytes) \($0.leftOut)" } == [
                "Documents 1 7 0", "Library/Application Support 1 500 0", "Library/Caches 0 0 40",
            ])
    }

    @Test func `a pattern of the user's comes after those that are built in`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        try write(device, "Documents/a.part")
        try write(device, "Documents/Tiles/1")
        try write(device, "Library/Caches/plan.cad")
        let patterns = try AuditPatterns(
            adding: "# ours\nordinary *.part\n\nrecreatable\tDocuments/Tiles/\r\ndocument *.CAD  \n", from: "mine")
        #expect(
            rules(try device.audit(notes, patterns: patterns)) == [
                "recreatableBackedUp Documents/Tiles 100", "irreplaceablePurgeable Library/Caches/plan.cad 100",
            ])
    }

    private func exclude(_ device: BootedDevice, _ path: String) throws {
        let full = try device.backingPath(of: notes, .data) + "/" + path
        let parent = try Descriptor.open(
            path: (full as NSString).deletingLastPathComponent, flags: O_RDONLY | O_DIRECTORY)
        let holder = AttributeHolder(FileName((full as NSString).lastPathComponent)!, in: parent)
        try holder.set(Array(BackupMark.attributeName.utf8), to: [1])
    }

    // S-AUDIT-2
    @Test func `excluded downloads are no breach, whatever the names of the files`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        try write(device, "Documents/Downloads/guide/page.pdf")
        try write(device, "Documents/film.mp4")
        try exclude(device, "Documents/Downloads")
        try exclude(device, "Documents/film.mp4")
        let audit = try device.audit(notes)
        #expect(
            rules(audit).filter { !$0.hasPrefix("documentReadable") } == ["documentExcluded Documents/film.mp4 100"])
        #expect(audit.isPassed)
        let strict = try device.audit(notes, patterns: try AuditPatterns(adding: "document *.mp4", from: "mine"))
        #expect(rules(strict).first == "documentNotBackedUp Documents/film.mp4 100")
        #expect(!strict.isPassed)
    }

    // S-AUDIT-3
    @Test func `a pattern for a directory covers what is in it, and a later one for a file decides on that`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        try write(device, "Library/Caches/Covers.cache/index.sqlite")
        try write(device, "Library/Caches/index.sqlite")
        try write(device, "Documents/Plans/a/b.bin")
        try write(device, "Documents/Downloads/mine.cad")
        try write(device, "Documents/Downloads/theirs.pdf", 10)
        let patterns = try AuditPatterns(adding: "document Plans/\ndocument *.cad", from: "mine")
        #expect(
            rules(try device.audit(notes, patterns: patterns)) == [
                "recreatableBackedUp Documents/Downloads 10",
                "documentReadableWhileLocked Documents/Downloads/mine.cad 100",
                "documentReadableWhileLocked Documents/Plans/a/b.bin 100",
                "irreplaceablePurgeable Library/Caches/index.sqlite 100",
            ])
    }

    // S-AUDIT-4
    @Test func `findings of one rule in one directory are a group, and breaches come first`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        for name in ["a", "b", "c", "d"] { try write(device, "Documents/\(name).pdf", 10) }
        try write(device, "Documents/sub/e.pdf", 1)
        try write(device, "tmp/f.sqlite", 2)
        let groups = try device.audit(notes).groups.map { group in
            "\(group.rule) \(group.path.text) \(group.count) \(group.bytes) \(group.names.map(\.text))"
        }
        #expect(
            groups == [
                "irreplaceableLostByUpdate tmp/f.sqlite 1 2 []",
                #"documentReadableWhileLocked Documents 4 40 ["a.pdf", "b.pdf", "c.pdf"]"#,
                "documentReadableWhileLocked Documents/sub/e.pdf 1 1 []",
            ])
    }

    @Test(arguments: ["nonsense *.x", "document", "document\t"])
    func `a line that is no pattern is refused with its number`(_ line: String) {
        let complaint = complaint { _ = try AuditPatterns(adding: "# one\n\(line)\n", from: "mine") }
        #expect(complaint?.kind == .badRequest)
        #expect(complaint?.message.hasPrefix("line 2 of mine is not") == true)
    }
}
