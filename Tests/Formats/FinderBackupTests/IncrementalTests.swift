// Incremental backups: unchanged content is taken over from the earlier backup.

import BackupModel
import DataProtection
import FinderBackup
import Glibc
import SandboxModel
import TestSupport
import Testing

@Suite struct IncrementalTests {
    @Test(arguments: [false, true])
    func whatDidNotChangeIsTakenAndTheResultIsWhole(isEncrypted: Bool) throws {
        let scratch = Scratch()
        let encryption = isEncrypted ? Sample.encryption : nil
        _ = try write(Sample.items, to: scratch["base"], encryption: encryption)
        var items = Sample.items
        let changed = items.firstIndex { $0.entry.path.last == "deep" }!
        items[changed] = .file("Documents/a.d/deep", Sample.bytes(100_000, seed: 77), protection: .completeUnlessOpen)
        let removed = items.firstIndex { $0.entry.path.last == "exact" }!
        items.remove(at: removed)
        let continued = try write(items, to: scratch["out"], encryption: encryption, since: scratch["base"])
        // All but the changed file, and the hard link, whose content is that of a file of this backup.
        #expect(continued == items.count - 2)
        // Content that was taken over is on disk once.
        #expect(try shell("find \(scratch["out"]) -type f -links +1 | wc -l").hasPrefix("1"))
        try shell("rm -r \(scratch["base"])")
        let found = try read(scratch["out"], password: encryption?.password)
        #expect(found == items)
    }

    /// Changed entries are written again.
    @Test(
        arguments: [
            { (entry: inout BackupEntry) in entry.permissions = 0o600 },
            { $0.owner = 502 },
            { $0.group = 502 },
            { $0.modificationTime.tv_sec += 1 },
            { $0.modificationTime.tv_nsec += 1 },
            { $0.protection = .complete },
            { $0.isExcluded = true },
            { $0.attributes = [BackupEntry.Attribute(name: Array("user.a".utf8), value: [1])] },
            { $0.kind = .file(.plain(length: 101, data: [0..<100])) },
            { $0.kind = .file(.sealed(length: 100, keybag: [1])) },
            { $0.kind = .fifo },
            { $0.path = Item.path("other") },
            { $0.domain = Item.group },
        ] as [@Sendable (inout BackupEntry) -> Void])
    func whateverChangedIsGivenAgain(change: @Sendable (inout BackupEntry) -> Void) throws {
        let scratch = Scratch()
        let item = Item.file("file", Sample.bytes(100))
        _ = try write([Item(""), item], to: scratch["base"])
        let sink = try FinderBackupSink(
            path: scratch["out"], of: FinderBackupOrigin(apps: [], device: Sample.device, date: Sample.date),
            since: scratch["base"])
        var changed = item
        change(&changed.entry)
        #expect(try !sink.continues(changed.entry, goOn: { true }, digest: { item.digest }))
        #expect(try !sink.continues(item.entry, goOn: { true }, digest: { [UInt8](repeating: 0, count: 32) }))
        #expect(try !sink.continues(item.entry, goOn: { true }, digest: { nil }))
        #expect(try sink.continues(item.entry, goOn: { true }, digest: { item.digest }))
    }

    @Test func contentThatTheEarlierBackupLostIsGivenAgain() throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["base"])
        try shell("truncate -s -1 \(scratch["base"])/??/*")
        _ = try write(Sample.items, to: scratch["out"], since: scratch["base"])
        #expect(try read(scratch["out"]) == Sample.items)
    }

    /// Damaged content of the earlier backup is not taken over.
    @Test(arguments: [nil, Sample.encryption])
    func contentThatTheEarlierBackupHasChangedIsGivenAgain(encryption: FinderBackupSink.Encryption?) throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["base"], encryption: encryption)
        try shell("for file in \(scratch["base"])/??/*; do \(changingByte(of: "$file")); done")
        _ = try write(Sample.items, to: scratch["out"], encryption: encryption, since: scratch["base"])
        #expect(try read(scratch["out"], password: encryption?.password) == Sample.items)
    }

    @Test func lookingAtTheEarlierContentCanBeEnded() throws {
        let scratch = Scratch()
        let item = Item.file("file", Sample.bytes(100))
        _ = try write([Item(""), item], to: scratch["base"])
        let sink = try FinderBackupSink(
            path: scratch["out"], of: FinderBackupOrigin(apps: [], device: Sample.device, date: Sample.date),
            since: scratch["base"])
        #expect(throws: Complaint.cancelled) {
            try sink.continues(item.entry, goOn: { false }, digest: { item.digest })
        }
    }

    @Test func anotherFilesystemIsCopiedTo() throws {
        let scratch = Scratch()
        let memory = Scratch(under: "/dev/shm")
        _ = try write(Sample.items, to: memory["base"], encryption: Sample.encryption)
        _ = try write(Sample.items, to: scratch["out"], encryption: Sample.encryption, since: memory["base"])
        #expect(try read(scratch["out"], password: Sample.encryption.password) == Sample.items)
    }

    @Test func anEncryptedBackupIsContinuedWithItsPasswordOnly() throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["base"], encryption: Sample.encryption)
        let other = FinderBackupSink.Encryption(password: [1], iterations: Sample.quick)
        let attempt = { (encryption: FinderBackupSink.Encryption?) in
            complaint { _ = try write([], to: scratch["out"], encryption: encryption, since: scratch["base"]) }?.kind
        }
        #expect(attempt(other) == .wrongPassword)
        #expect(attempt(nil) == .passwordNeeded)
        #expect(scratch.names == ["base"])
        _ = try write(Sample.items, to: scratch["plain"])
        let mixed = complaint {
            _ = try write([], to: scratch["out"], encryption: Sample.encryption, since: scratch["plain"])
        }
        #expect(mixed?.kind == .badRequest)
    }

    @Test func aPhonesBackupIsNotContinued() throws {
        let scratch = Scratch()
        try Python.run("make_phone_backup.py", scratch["phone"])
        #expect(complaint { _ = try write([], to: scratch["out"], since: scratch["phone"]) }?.kind == .invalidBackup)
    }
}
