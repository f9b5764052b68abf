// What goes into a backup comes out of it.

import BackupModel
import FinderBackup
import Glibc
import SandboxModel
import TestSupport
import Testing

@Suite struct RoundTripTests {
    @Test(arguments: [false, true])
    func everythingComesBackAsItWas(isEncrypted: Bool) throws {
        let scratch = Scratch()
        let encryption = isEncrypted ? Sample.encryption : nil
        _ = try write(Sample.items, to: scratch["out"], encryption: encryption)
        let items = try read(scratch["out"], password: encryption?.password)
        #expect(items.count == Sample.items.count)
        for (found, expected) in zip(items, Sample.items) { #expect(found == expected) }
    }

    @Test func appsComeBackWithTheirOwnersAndGroups() throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["out"])
        #expect(try FinderBackupSource(path: scratch["out"], password: nil).apps == Sample.apps)
    }

    @Test func onlyTheDomainsThatAreWantedAreGiven() throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["out"])
        let items = try read(scratch["out"], domains: [Item.group])
        #expect(items == Sample.items.filter { $0.entry.domain == Item.group })
    }

    @Test(arguments: [false, true])
    func holesStayHoles(isEncrypted: Bool) throws {
        let scratch = Scratch()
        let length: Int64 = 1 << 30
        let data: [Range<Int64>] = [(512 << 20)..<(512 << 20) + 4096]
        guard !isEncrypted else {
            // Encrypted zeros take their place on the disk; that they are a hole is known all the same.
            let short: [Range<Int64>] = [(1 << 20)..<(1 << 20) + 4096]
            let item = Item("holes", .file(.plain(length: 4 << 20, data: short)), content: nil)
            let sink = try FinderBackupSink(
                path: scratch["out"], apps: [], device: Sample.device, date: Sample.date,
                encryption: Sample.encryption)
            try sink.begin(Item("").entry)
            try sink.begin(item.entry)
            unsafe try sink.write(Sample.bytes(4096).span.bytes, at: 1 << 20)
            try sink.finish()
            let source = try FinderBackupSource(path: scratch["out"], password: Sample.encryption.password)
            _ = try source.next()
            #expect(try source.next()?.kind == .file(.plain(length: 4 << 20, data: short)))
            return
        }
        let sink = try FinderBackupSink(
            path: scratch["out"], apps: [], device: Sample.device, date: Sample.date)
        try sink.begin(Item("").entry)
        try sink.begin(Item("holes", .file(.plain(length: length, data: data))).entry)
        unsafe try sink.write(Sample.bytes(4096).span.bytes, at: 512 << 20)
        try sink.finish()
        let source = try FinderBackupSource(path: scratch["out"], password: nil)
        _ = try source.next()
        #expect(try source.next()?.kind == .file(.plain(length: length, data: data)))
        #expect(try Int(shell("du -sk \(scratch["out"])").split(separator: "\t")[0])! < 1024)
    }

    @Test func aSecondNameOfAFileTakesNoSpace() throws {
        let scratch = Scratch()
        _ = try write(Sample.items, to: scratch["out"])
        // `printf hello` under both names is one file with two links.
        #expect(try shell("find \(scratch["out"]) -type f -size 5c -links 2 | wc -l") == "2\n")
    }

    @Test func contentGivenInPartIsRefused() throws {
        let scratch = Scratch()
        let sink = try FinderBackupSink(path: scratch["out"], apps: [], device: Sample.device, date: Sample.date)
        try sink.begin(Item("").entry)
        try sink.begin(Item("part", .file(.plain(length: 10, data: [0..<10]))).entry)
        unsafe try sink.write(Sample.bytes(3).span.bytes, at: 0)
        #expect(complaint { try sink.finish() }?.message.contains("in part") == true)
    }

    @Test func theSamePathTwiceIsRefused() throws {
        let scratch = Scratch()
        let sink = try FinderBackupSink(path: scratch["out"], apps: [], device: Sample.device, date: Sample.date)
        try sink.begin(Item("a").entry)
        #expect(complaint { try sink.begin(Item("a").entry) }?.kind == .unexpected)
    }
}
