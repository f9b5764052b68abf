// Incremental backups.

import BackupModel
import Foundation
import Glibc
import Platform
import SandboxModel
import TarBackup
import TestSupport
import Testing

@Suite struct IncrementalTests {
    let scratch = Scratch()

    /// A day later: a file with other content, one with other metadata, one removed, one new, one that became a
    /// directory.
    private let later: [Sample] = [
        plain[0], plain[1],
        .file("\(home)/Documents/a.txt", "omega\n"),
        plain[3],
        plain[4].with { $0.entry.permissions = 0o700 },
        plain[5],
        .file("\(home)/Documents/deep/c", "new"),
        plain[7],
        .file("\(home)/Library/Preferences.plist", "also new"),
        plain[8], plain[9],
    ]

    private func names(_ archive: String) throws -> [String] {
        try shell("tar -tf '\(scratch[archive])'").split(separator: "\n").map(String.init)
    }

    @Test func `only what changed is in it, and all is read from it`() throws {
        try write(plain, to: scratch["base.tar"])
        try write(later, to: scratch["later.tar"], since: scratch["base.tar"])
        #expect(
            try names("later.tar") == [
                ".appcontainer/Backup.json", "\(home)/Documents/a.txt", "\(home)/Documents/again",
                "\(home)/Documents/deep/",
                "\(home)/Documents/deep/c", "\(home)/Library/Preferences.plist", ".appcontainer/Manifest",
            ])
        #expect(try read(scratch["later.tar"]).map(\.text) == later.map(\.text))
        let group = try read(scratch["later.tar"]) { $0.name == shared }
        #expect(group.map(\.text) == later.suffix(2).map(\.text))
    }

    @Test func `content that changed is noticed, whatever size and time say`() throws {
        try write(plain, to: scratch["base.tar"])
        var changed = plain
        changed[2].data = Array("Alpha\n".utf8)
        try write(changed, to: scratch["later.tar"], since: scratch["base.tar"])
        #expect(try names("later.tar").contains("\(home)/Documents/a.txt"))
        #expect(try read(scratch["later.tar"]).map(\.text) == changed.map(\.text))
    }

    @Test func `the digest of a file is asked for only where all else is the same`() throws {
        try write(plain, to: scratch["base.tar"])
        let sink = try TarBackupSink(path: scratch["later.tar"], apps: [notes], since: scratch["base.tar"])
        var asked: [String] = []
        for sample in later {
            func digest() throws(Complaint) -> [UInt8]? {
                asked.append(sample.path)
                return nil
            }
            let kept = try sink.continues(sample.entry, goOn: { true }, digest: digest)
            guard !kept else { continue }
            try sink.begin(sample.entry)
            try sample.data.withSpan { bytes throws(Complaint) in try sink.write(bytes, at: 0) }
        }
        try sink.finish()
        #expect(asked == ["\(home)/Documents/a.txt", "\(home)/Documents/deep/b"])
        #expect(try read(scratch["later.tar"]).map(\.text) == later.map(\.text))
    }

    @Test
    func `unpacked over each other they give what was there, but for what was removed and the times of directories`()
        throws
    {
        try write(plain, to: scratch["base.tar"])
        try write(later, to: scratch["later.tar"], since: scratch["base.tar"])
        try write(later, to: scratch["full.tar"])
        for name in ["base", "later", "full"] {
            let place = scratch[name == "full" ? "full" : "both"]
            try shell("mkdir -p '\(place)' && tar -xpf '\(scratch["\(name).tar"])' -C '\(place)'")
        }
        try shell(
            "rm '\(scratch["both"])/\(home)/Documents/link'; rm -r '\(scratch["both"])/.appcontainer' '\(scratch["full"])/.appcontainer'"
        )
        #expect(try shell("diff -r '\(scratch["both"])' '\(scratch["full"])'") == "")
        let list = { (place: String) in
            try shell("cd '\(place)' && find App* -type d -printf '%p %m\\n' -o -printf '%p %m %n %T@\\n' | sort")
        }
        #expect(try list(scratch["both"]) == list(scratch["full"]))
    }

    @Test func `a chain is read, wherever it is moved together, and by paths that are given`() throws {
        let third = later.dropLast() + [.file("\(shared)/empty", "not empty any more")]
        try write(plain, to: scratch["1.tar"])
        try write(later, to: scratch["2.tar"], since: scratch["1.tar"])
        try write(Array(third), to: scratch["3.tar"], since: scratch["2.tar"])
        #expect(try read(scratch["3.tar"]).map(\.text) == third.map(\.text))
        try shell("cd '\(scratch.path)' && mkdir moved && mv *.tar moved")
        #expect(try read(scratch["moved/3.tar"]).map(\.text) == third.map(\.text))
        try shell("cd '\(scratch.path)' && mkdir apart && mv moved/[12].tar apart")
        #expect(try read(scratch["moved/3.tar"], base: scratch["apart/2.tar"]).map(\.text) == third.map(\.text))
        let refusal = complaint { _ = try read(scratch["moved/3.tar"]) }
        #expect(refusal?.kind == .notFound)
        #expect(
            refusal?.message
                == "\(scratch["moved/3.tar"]) continues \(scratch["moved/2.tar"]), which is not there; put it back there"
        )
    }

    @Test func `one in another directory is named from there`() throws {
        try shell("mkdir '\(scratch["a"])' '\(scratch["b"])'")
        try write(plain, to: scratch["a/base.tar"])
        try write(later, to: scratch["b/later.tar"], since: scratch["a/base.tar"])
        #expect(
            try shell("tar -xOf '\(scratch["b/later.tar"])' .appcontainer/Backup.json").contains(
                "\"file\" : \"../a/base.tar\""))
        #expect(try read(scratch["b/later.tar"]).map(\.text) == later.map(\.text))
    }

    @Test func `the base of an incremental backup has to be the same file, unchanged`() throws {
        try write(plain, to: scratch["base.tar"])
        try write(later, to: scratch["later.tar"], since: scratch["base.tar"])
        let whole = try bytes(of: scratch["base.tar"])
        try FileManager.default.removeItem(atPath: scratch["base.tar"])
        try write(later, to: scratch["base.tar"])
        #expect(complaint { _ = try read(scratch["later.tar"]) }?.kind == .invalidBackup)
        var altered = whole
        let content = altered.firstIndex(of: 7)!
        altered[content] ^= 1
        try put(altered, at: scratch["base.tar"])
        let refusal = complaint { _ = try read(scratch["later.tar"]) }
        #expect(refusal?.kind == .invalidBackup)
        #expect(refusal?.message.hasPrefix("\(scratch["base.tar"]) was altered: \(home)/Documents/deep/b") == true)
        try put(Array(whole.dropLast(512)), at: scratch["base.tar"])
        #expect(
            complaint { _ = try read(scratch["later.tar"]) }?.message
                == "\(scratch["base.tar"]) is cut short; use another copy of it")
        try put(whole, at: scratch["base.tar"])
        #expect(try read(scratch["later.tar"]).map(\.text) == later.map(\.text))
    }

    @Test func `compressed ones are read and continued`() throws {
        try write(plain, to: scratch["base.tar"])
        try shell("cd '\(scratch.path)' && gzip base.tar && mv base.tar.gz base.tar")
        try write(later, to: scratch["later.tar"], since: scratch["base.tar"])
        try shell("cd '\(scratch.path)' && zstd -q --rm later.tar && mv later.tar.zst later.tar")
        #expect(try read(scratch["later.tar"], scratch: scratch.path).map(\.text) == later.map(\.text))
    }

    @Test func `the same content continued gives the same bytes`() throws {
        try write(plain, to: scratch["base.tar"])
        for name in ["a.tar", "b.tar"] { try write(later, to: scratch[name], since: scratch["base.tar"]) }
        #expect(try bytes(of: scratch["a.tar"]) == bytes(of: scratch["b.tar"]))
    }

    @Test func `a chain has an end`() throws {
        try write(plain, to: scratch["0.tar"])
        for index in 1..<32 { try write(plain, to: scratch["\(index).tar"], since: scratch["\(index - 1).tar"]) }
        #expect(try read(scratch["31.tar"]).map(\.text) == plain.map(\.text))
        let refusal = complaint { try write(plain, to: scratch["32.tar"], since: scratch["31.tar"]) }
        #expect(
            refusal?.message == "\(scratch["31.tar"]) continues too many others to be continued; make a full backup")
    }
}
