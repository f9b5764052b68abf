// Tools that others have written, and that know nothing of this project, read its backups.

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
    }

    @Test func anEncryptedBackupIsReadByteForByte() throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["out"], encryption: Sample.encryption)
        let found = try lines(scratch, password: String(decoding: Sample.encryption.password, as: UTF8.self))
        for tool in ["pyiosbackup", "iphone_backup_decrypt"] {
            #expect(found.filter { $0.hasPrefix("\(tool)\tfile") }.sorted() == files(tool))
            #expect(found.filter { $0.hasPrefix("\(tool)\tdirectory") }.sorted() == directories(tool))
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

    /// What a tool should find: content that it could not make sense of is not shown to it as a file.
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

    /// As Python's `unicode_escape` has it.
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
