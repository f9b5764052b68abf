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

    @Test(arguments: ["nonsense *.x", "document", "document\t"])
    func `a line that is no pattern is refused with its number`(_ line: String) {
        let complaint = complaint { _ = try AuditPatterns(adding: "# one\n\(line)\n", from: "mine") }
        #expect(complaint?.kind == .badRequest)
        #expect(complaint?.message.hasPrefix("line 2 of mine is not") == true)
    }
}
