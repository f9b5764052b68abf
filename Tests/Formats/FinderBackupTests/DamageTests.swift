// Damaged backups of this project are refused, or give exactly the entries that were written.

import BackupModel
import FinderBackup
import SandboxModel
import TestSupport
import Testing

@Suite struct DamageTests {
    private static let items = [
        Item(""),
        Item("Documents", protection: .complete),
        Item.file("Documents/a", Sample.bytes(300), protection: .complete),
        .file("Documents/b", Sample.bytes(16, seed: 2), isExcluded: true),
        Item("Documents/link", .symbolicLink(Array("a".utf8)), permissions: 0o777),
    ]

    @Test(arguments: [false, true])
    func noChangeGoesUnnoticed(isEncrypted: Bool) throws {
        let scratch = Scratch()
        let encryption = isEncrypted ? Sample.encryption : nil
        _ = try write(Self.items, to: scratch["out"], encryption: encryption)
        var refused = 0
        try Damage.forEach(in: scratch["out"], changes: rounds(50, full: 100)) {
            do {
                let found = try read(scratch["out"], password: encryption?.password)
                // Info.plist does not describe the content of a backup, and Status.plist hardly.
                #expect(found == Self.items)
            } catch let complaint as Complaint {
                refused += 1
                #expect([.invalidBackup, .newerBackup, .wrongPassword].contains(complaint.kind), "\(complaint)")
                #expect(!complaint.message.contains("\n"))
            }
        }
        #expect(refused > rounds(100, full: 200))
        #expect(try read(scratch["out"], password: encryption?.password) == Self.items)
    }

    @Test func contentThatWasExchangedIsNoticed() throws {
        let scratch = Scratch()
        var items = Self.items
        items[3] = .file("Documents/b", Sample.bytes(300, seed: 2))
        _ = try write(items, to: scratch["out"])
        try shell("cd \(scratch["out"]); set -- */*; mv $1 x; mv $2 $1; mv x $2")
        let refused = complaint { _ = try read(scratch["out"]) }
        #expect(refused?.kind == .invalidBackup)
        #expect(refused?.message.contains("content of Documents/a") == true)
    }

    @Test func thePasswordIsAskedForAndHeldAgainstTheKeybag() throws {
        let scratch = Scratch()
        _ = try write(Self.items, to: scratch["out"], encryption: Sample.encryption)
        #expect(complaint { _ = try read(scratch["out"]) }?.kind == .passwordNeeded)
        #expect(complaint { _ = try read(scratch["out"], password: [0x78]) }?.kind == .wrongPassword)
    }
}
