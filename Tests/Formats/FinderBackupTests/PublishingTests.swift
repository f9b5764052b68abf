// The appearance of a backup under its name: whole, or not at all.

import BackupModel
import FinderBackup
import SandboxModel
import TestSupport
import Testing

@Suite struct PublishingTests {
    @Test func nothingHasTheNameBeforeTheEnd() throws {
        let scratch = Scratch()
        let sink = try FinderBackupSink(
            path: scratch["out"], of: FinderBackupOrigin(apps: [], device: Sample.device, date: Sample.date))
        for item in Sample.items { try give(item, to: sink) }
        let names = scratch.names
        #expect(names.count == 1 && names[0].hasPrefix(".out."))
        // The Status.plist of the temporary directory says that the backup is not finished.
        let unfinished = complaint { _ = try read(scratch[names[0]]) }
        #expect(unfinished?.kind == .invalidBackup)
        try sink.finish()
        #expect(scratch.names == ["out"])
    }

    @Test(arguments: [false, true])
    func aSinkThatIsGivenUpLeavesNothing(isEncrypted: Bool) throws {
        let scratch = Scratch()
        do {
            let sink = try FinderBackupSink(
                path: scratch["out"], of: FinderBackupOrigin(apps: [], device: Sample.device, date: Sample.date),
                encryption: isEncrypted ? Sample.encryption : nil)
            for item in Sample.items.prefix(8) { try give(item, to: sink) }
        }
        #expect(scratch.names.isEmpty)
        let sink = try FinderBackupSink(
            path: scratch["out"], of: FinderBackupOrigin(apps: [], device: Sample.device, date: Sample.date))
        try give(Sample.items[0], to: sink)
        sink.abandon()
        #expect(scratch.names.isEmpty)
    }

    @Test func anEmptyDirectoryIsFilledAndKeepsItsMode() throws {
        let scratch = Scratch()
        try shell("mkdir -m 750 \(scratch["out"])")
        _ = try write(Sample.items, to: scratch["out"] + "/")
        #expect(try shell("stat -c %a \(scratch["out"])") == "750\n")
        #expect(try read(scratch["out"]).count == Sample.items.count)
    }

    @Test(arguments: ["mkdir out; touch out/file", "touch out", "ln -s nowhere out"])
    func whatIsThereIsNotTouched(command: String) throws {
        let scratch = Scratch()
        try shell("cd \(scratch.path); \(command)")
        let refused = complaint { _ = try write(Sample.items, to: scratch["out"]) }
        #expect(refused?.kind == .fileExists)
        #expect(scratch.names == ["out"])
    }

    @Test func whatWasMadeMeanwhileIsNotReplaced() throws {
        let scratch = Scratch()
        let sink = try FinderBackupSink(
            path: scratch["out"], of: FinderBackupOrigin(apps: [], device: Sample.device, date: Sample.date))
        try give(Sample.items[0], to: sink)
        try shell("mkdir \(scratch["out"]); touch \(scratch["out"])/file")
        #expect(complaint { try sink.finish() }?.kind == .fileExists)
        #expect(try shell("ls \(scratch["out"])") == "file\n")
    }

    @Test func theLongestNameWillDo() throws {
        let scratch = Scratch()
        let name = String(repeating: "\u{FC}", count: 127)
        _ = try write(Sample.items, to: scratch[name])
        #expect(scratch.names == [name])
    }

    @Test func onlyItsOwnerMayReadIt() throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["out"])
        #expect(try shell("find \(scratch["out"]) -perm /077") == "")
    }

    @Test func noNameOfAnEncryptedBackupIsOnTheDisk() throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["out"], encryption: Sample.encryption)
        #expect(try shell("grep -rl Documents \(scratch["out"]) | wc -l") == "0\n")
    }
}
