// The appearance of a backup under its name: whole, or not at all.

import BackupModel
import Foundation
import Glibc
import Platform
import SandboxModel
import TarBackup
import TestSupport
import Testing

@Suite struct PublishingTests {
    let scratch = Scratch()

    @Test func `a backup that is given up leaves nothing`() throws {
        do {
            let sink = try TarBackupSink(path: scratch["a.tar"], apps: [notes])
            try sink.begin(plain[0].entry)
            #expect(scratch.names.count == 1)
            #expect(scratch.names[0].hasPrefix(".appcontainer-"))
            let status = try HostPath.status(scratch[scratch.names[0]])
            #expect(status.permissions == 0o600)
        }
        #expect(scratch.names == [])
    }

    @Test func `an existing file is not replaced, whenever it was made`() throws {
        try put([1], at: scratch["a.tar"])
        let early = complaint { _ = try TarBackupSink(path: scratch["a.tar"], apps: [notes]) }
        #expect(early?.kind == .fileExists)
        do {
            let sink = try TarBackupSink(path: scratch["b.tar"], apps: [notes])
            try put([2], at: scratch["b.tar"])
            #expect(complaint { try sink.finish() }?.kind == .fileExists)
        }
        #expect(try bytes(of: scratch["a.tar"]) == [1])
        #expect(try bytes(of: scratch["b.tar"]) == [2])
        #expect(scratch.names == ["a.tar", "b.tar"])
    }

    @Test func `a place that is none is one line`() throws {
        #expect(complaint { _ = try TarBackupSink(path: scratch["no/a.tar"], apps: []) } != nil)
        #expect(complaint { _ = try TarBackupSink(path: scratch.path + "/", apps: []) }?.kind == .badRequest)
        #expect(complaint { _ = try TarBackupSink(path: "", apps: []) }?.kind == .badRequest)
    }

    @Test func `content that is not what was announced is no backup`() throws {
        let sink = try TarBackupSink(path: scratch["a.tar"], apps: [notes])
        let file = Sample.file("\(home)/f", "four")
        try sink.begin(plain[0].entry)
        try sink.begin(file.entry)
        let short = complaint { try sink.finish() }
        #expect(short?.message.hasSuffix("AppDomain-com.example.Notes/f changed while it was read; try again") == true)
        let other = try TarBackupSink(path: scratch["b.tar"], apps: [notes])
        try other.begin(plain[0].entry)
        try other.begin(file.entry)
        let long = complaint {
            try [1, 2, 3, 4, 5].withSpan { bytes throws(Complaint) in try other.write(bytes, at: 0) }
        }
        #expect(long != nil)
    }

    @Test func `entries out of order, twice, or without a directory are refused`() throws {
        for wrong in [[0, 4, 2], [0, 1, 1], [0, 5], [0, 1, 2, 2]] {
            let path = scratch["a.tar"]
            #expect(complaint { try write(wrong.map { plain[$0] }, to: path) }?.kind == .invalidBackup, "\(wrong)")
        }
        #expect(scratch.names == [])
    }

    @Test func `a host without space is reported in one line, and nothing is left`() throws {
        try shell("mkdir '\(scratch["small"])' && mount -t tmpfs -o size=3m none '\(scratch["small"])'")
        defer { _ = try? shell("umount '\(scratch["small"])'") }
        let big = Sample.file("\(home)/f", [UInt8](repeating: 1, count: 8 << 20))
        let path = scratch["small/a.tar"]
        #expect(complaint { try write([plain[0], big], to: path) }?.kind == .noSpace)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch["small"]) == [])
    }

    /// A change of any byte of this archive is a change of the format, whose version has to be raised.
    @Test func `the worked example of the format is what is written`() throws {
        let app = BackupApp(
            identifier: notes.identifier, name: "Notes", version: "1.0", groups: [], owner: 501, ownerGroup: 501)
        let entries = [
            Sample.directory(home), .directory("\(home)/Documents"),
            .file("\(home)/Documents/a.txt", "alpha\n").with { $0.entry.protection = .complete },
            .directory("\(home)/Library"),
        ].map { sample in
            sample.with {
                $0.entry.group = 501
                $0.entry.modificationTime.tv_nsec = sample.data.isEmpty ? 0 : 500_000_000
            }
        }
        try write(entries, to: scratch["a.tar"], apps: [app])
        #expect(try bytes(of: scratch["a.tar"]).count == 7168)
        let identity = try TarBackupSource(path: scratch["a.tar"]).identity
        #expect(
            identity.hexadecimal == "db13dd5522495fb667598caa2e3d33005531a31847592200d1129290f5ae0f83")
    }

    @Test func `the same content gives the same bytes`() throws {
        try write(plain, to: scratch["a.tar"])
        try shell("sleep 1.1")
        try write(plain, to: scratch["b.tar"])
        #expect(try bytes(of: scratch["a.tar"]) == bytes(of: scratch["b.tar"]))
        let text = String(decoding: try bytes(of: scratch["a.tar"]), as: UTF8.self)
        for word in ["atime", "ctime", "SCHILY.ino", "SCHILY.dev", "LIBARCHIVE", "hdrcharset", "root"] {
            #expect(!text.contains(word), "\(word)")
        }
    }
}
