// Public tools read backups of this project.

import BackupModel
import FinderBackup
import Foundation
import SandboxModel
import TestSupport
import Testing

@Suite struct PublicToolsTests {
    @Test func aPlainBackupIsReadByteForByte() throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["out"])
        let found = try lines(scratch, password: nil)
        #expect(found.filter { $0.hasPrefix("pyiosbackup\tfile") }.sorted() == files("pyiosbackup"))
        #expect(found.filter { $0.hasPrefix("pyiosbackup\tdirectory") }.sorted() == directories("pyiosbackup"))
        #expect(found.contains("pyiosbackup\tbackup\tcom.example.Notes\t18.0\t\(Sample.device.identifier)"))
        #expect(found.contains("iOSbackup\tbackup\t\(Sample.device.name)\t18.0\tFalse"))
        for tool in ["iOSbackup", "ios-backup-manager"] {
            #expect(found.filter { $0.hasPrefix("\(tool)\tfile") }.sorted() == files(tool))
        }
    }

    @Test func anEncryptedBackupIsReadByteForByte() throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["out"], encryption: Sample.encryption)
        let found = try lines(scratch, password: String(decoding: Sample.encryption.password, as: UTF8.self))
        for tool in ["pyiosbackup", "iphone_backup_decrypt"] {
            #expect(found.filter { $0.hasPrefix("\(tool)\tfile") }.sorted() == files(tool))
            #expect(found.filter { $0.hasPrefix("\(tool)\tdirectory") }.sorted() == directories(tool))
        }
        #expect(found.contains("iOSbackup\tbackup\t\(Sample.device.name)\t18.0\tTrue"))
        for tool in ["iOSbackup", "ios-backup-manager"] {
            #expect(found.filter { $0.hasPrefix("\(tool)\tfile") }.sorted() == files(tool))
        }
        let links = found.filter { $0.hasPrefix("iphone_backup_decrypt\tlink") }
        #expect(
            links.contains("iphone_backup_decrypt\tlink\tAppDomain-com.example.Notes\tDocuments/link\t../../elsewhere"))
    }

    @Test func aBackupThatContinuesAnotherIsReadWithoutIt() throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["base"], encryption: Sample.encryption)
        let continued = try write(
            Sample.items, to: scratch["out"], encryption: Sample.encryption, since: scratch["base"])
        #expect(continued > 10)
        try shell("rm -r \(scratch["base"])")
        let found = try lines(scratch, password: String(decoding: Sample.encryption.password, as: UTF8.self))
        #expect(found.filter { $0.hasPrefix("iphone_backup_decrypt\tfile") }.sorted() == files("iphone_backup_decrypt"))
    }

    @Test func mvtFindsNothingAmissInAPlainBackup() throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["out"])
        let found = try Python.run("check_with_mvt.py", scratch["out"], temporary: scratch.path).split(separator: "\n")
        #expect(found.first == "\(Sample.device.name)\t\(Sample.device.identifier)\t18.0")
        #expect(found.dropFirst().first == "missing in Info.plist: []")
        // One entry has another time.
        #expect(found.dropFirst(2).count == Sample.items.count)
        #expect(found.filter { $0.hasSuffix("2023-11-14") }.count == Sample.items.count - 1)
    }

    /// The files that a tool should find: sealed content is not a file for it.
    private func files(_ tool: String) -> [String] {
        Sample.items.compactMap { item -> String? in
            var item = item
            switch item.entry.kind {
            case .file(.plain): break
            case .hardLink(let first):
                item.content =
                    Sample.items.first { $0.entry.path == first && $0.entry.domain == item.entry.domain }?
                    .content
            default: return nil
            }
            let digest = item.digest!.map { String(format: "%02x", $0) }.joined()
            return "\(tool)\tfile\t\(item.entry.domain.name)\t\(shown(item.entry.path))\t\(digest)"
        }.sorted()
    }

    private func directories(_ tool: String) -> [String] {
        Sample.items.filter { $0.entry.kind == .directory }.map {
            "\(tool)\tdirectory\t\($0.entry.domain.name)\t\(shown($0.entry.path))\t"
        }.sorted()
    }

    /// The text in Python's `unicode_escape`.
    private func shown(_ path: [FileName]) -> String {
        path.text.unicodeScalars.map { scalar in
            switch scalar.value {
            case ..<0x80: String(scalar)
            case ..<0x100: String(format: "\\x%02x", scalar.value)
            default: String(format: "\\u%04x", scalar.value)
            }
        }.joined()
    }

    private func lines(_ scratch: Scratch, password: String?) throws -> [String] {
        let output = try Python.run(
            "read_with_public_tools.py", scratch["out"], password ?? "", temporary: scratch.path)
        return output.split(separator: "\n").map(String.init)
    }
}
