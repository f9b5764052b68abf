// The mark of exclusion in all its forms.

import Foundation
import SandboxModel
import Testing

@Suite("The mark that keeps something out of backups, by its names")
struct BackupMarkTests {
    private func form(_ name: String) -> BackupMark.Form? { BackupMark.Form(attribute: Array(name.utf8)) }

    @Test("Its value is the property list that Apple's frameworks write")
    func canonicalValue() throws {
        let value = try PropertyListDecoder().decode(String.self, from: Data(BackupMark.canonicalValue))
        #expect(value == "com.apple.backupd")
        #expect(BackupMark.canonicalValue.count == 61)
    }

    @Test("Apple's names are known with the prefix of user attributes and without it, freedesktop's with it only")
    func names() {
        for prefix in ["", "user."] {
            #expect(form(prefix + "com.apple.metadata:com_apple_backup_excludeItem") == .excludeItem)
            #expect(form(prefix + "com.apple.MobileBackup") == .mobileBackup)
        }
        #expect(form("user.xdg.robots.backup") == .robots)
        for other in ["xdg.robots.backup", "user.com.apple.mobilebackup", "user.", "user.appcontainer.backup"] {
            #expect(form(other) == nil, "\(other)")
        }
    }

    @Test(
        "That it is there is what counts; but 0 and true ask for a backup",
        arguments: [
            ("excludeItem", "", "exclude"), ("excludeItem", "0", "exclude"), ("excludeItem", "false", "exclude"),
            ("mobileBackup", "\u{1}", "exclude"), ("mobileBackup", "", "exclude"), ("mobileBackup", "10", "exclude"),
            ("mobileBackup", "\u{0}", "include"), ("mobileBackup", "0", "include"),
            ("robots", "false", "exclude"), ("robots", "true", "include"),
            ("robots", "", nil), ("robots", "False", nil), ("robots", "false\n", nil), ("robots", "noindex", nil),
        ] as [(String, String, String?)])
    func settings(_ name: String, _ value: String, _ wanted: String?) throws {
        let form = try #require(BackupMark.Form.allCases.first { "\($0)" == name })
        #expect(form.setting(Array(value.utf8)).map { "\($0)" } == wanted)
    }

    @Test("Each form can be set to what it reads as, and what is listed is what a Linux host can hold")
    func roundTrip() {
        for form in BackupMark.Form.allCases { #expect(form.setting(form.canonicalValue) == .exclude) }
        for name in BackupMark.listedNames {
            #expect(name.starts(with: "user.".utf8))
            #expect(BackupMark.Form(attribute: name) != nil)
        }
    }

    @Test("The tag of a directory of caches begins as its specification has it")
    func cacheDirectoryTag() {
        #expect(CacheDirectoryTag.content.starts(with: "Signature: 8a477f597d28d172789f06886806bc55\n".utf8))
        #expect(CacheDirectoryTag.name == "CACHEDIR.TAG")
    }
}
