// What GNU tar, bsdtar and Python make of a backup.

import BackupModel
import Foundation
import Glibc
import Platform
import SandboxModel
import TarBackup
import TestSupport
import Testing

@Suite struct ToolTests {
    let scratch = Scratch()

    /// Whatever a container can hold, and tools can make; all names are text.
    private let rich: [Sample] = {
        var generator = SeededGenerator(seed: 8)
        let long = String(repeating: "n", count: 255)
        let data = generator.bytes(8192)
        return [
            .directory(home), .directory("\(home)/Documents"),
            .file("\(home)/Documents/Größe", "umlaut").with { $0.entry.permissions = 0o4755 },
            .file("\(home)/Documents/a", "alpha").with {
                $0.entry.protection = .complete
                $0.entry.isExcluded = true
                $0.entry.attributes = [
                    .init(name: Array("user.big".utf8), value: generator.bytes(3000)),
                    .init(name: Array("user.note".utf8), value: [0, 10, 61, 255]),
                ]
            },
            .make("\(home)/Documents/again", .hardLink(["Documents", "a"])),
            .make("\(home)/Documents/fifo", .fifo),
            .file("\(home)/Documents/large", generator.bytes(3_000_000)),
            .make("\(home)/Documents/link", .symbolicLink(Array("../\(long)/ö".utf8))),
            .file("\(home)/Documents/\(long)", "long"),
            .make("\(home)/Documents/socket", .socket),
            .sparse(
                "\(home)/Documents/sparse", length: 1 << 30, [1 << 20..<1 << 20 + 4096, 1 << 29..<1 << 29 + 4096], data),
            .sparse("\(home)/Documents/tail", length: 4096 * 3, [4096..<12_288], data),
            .directory("\(home)/Library").with { $0.entry.protection = ProtectionClass.none },
            .directory("\(home)/Library/\(long)"), .file("\(home)/Library/\(long)/\(long)", "longer"),
        ]
    }()

    /// Path, kind, mode, owner, time and link count of all that lies there, as find(1) tells it.
    private func listing(_ directory: String, time: String) throws -> [String] {
        try shell(
            "cd '\(scratch[directory])' && LC_ALL=C.UTF-8 find App* -printf '%p %y %m %U %G \(time) %l\\n'"
        ).split(separator: "\n").map { String($0.trimmingPrefix("./")) }.sorted()
    }

    private func expected(time: String) -> [String] {
        rich.map { sample in
            let letter =
                switch sample.entry.kind {
                case .file, .hardLink, .socket: "f"
                case .directory: "d"
                case .symbolicLink: "l"
                case .fifo: "p"
                }
            var target = ""
            if case .symbolicLink(let leads) = sample.entry.kind { target = String(decoding: leads, as: UTF8.self) }
            let mode = letter == "l" ? "777" : String(sample.entry.permissions, radix: 8)
            return "\(sample.path) \(letter) \(mode) 501 502 \(time) \(target)"
        }.sorted()
    }

    private func expectContents(_ directory: String) throws {
        let place = scratch[directory]
        for sample in rich where sample.entry.kind.isFile {
            guard case .file(.plain(let length, let ranges)) = sample.entry.kind else { continue }
            let status = try HostPath.status("\(place)/\(sample.path)")
            #expect(status.size == length)
            // Of the one with large holes only what is none.
            let file = try Descriptor.open(path: "\(place)/\(sample.path)", flags: O_RDONLY)
            let buffer = PageBuffer(count: max(sample.data.count, 1))
            var start = 0
            for range in ranges {
                let count = try file.read(into: buffer, at: start, count: range.count, from: range.lowerBound)
                #expect(count == range.count)
                start += count
            }
            #expect(buffer.bytes(0, count: start) == sample.data, "\(sample.path)")
        }
        let names = ["a", "again"].map { "\(place)/\(home)/Documents/\($0)" }
        #expect(try HostPath.status(names[0]).identity == HostPath.status(names[1]).identity)
    }

    private func expectAttributes(_ directory: String) throws {
        let dump = try shell("cd '\(scratch[directory])' && getfattr -d -e hex '\(home)/Documents/a' '\(home)/Library'")
        let hex = { (bytes: [UInt8]) in bytes.map { String(format: "%02x", $0) }.joined() }
        let file = rich[3].entry
        for attribute in file.attributes {
            #expect(dump.contains("\(String(decoding: attribute.name, as: UTF8.self))=0x\(hex(attribute.value))\n"))
        }
        #expect(dump.contains("\(BackupMark.attributeName)=0x\(hex(BackupMark.canonicalValue))\n"))
        for value in ["NSFileProtectionComplete", "NSFileProtectionNone"] {
            #expect(dump.contains("user.appcontainer.protection=0x\(hex(Array(value.utf8)))\n"))
        }
    }

    private let time = "1700000000.1234567890"

    @Test(arguments: [
        ("gnu", "tar --numeric-owner --xattrs --xattrs-include='user.*' -xpf"),
        ("bsd", "bsdtar --numeric-owner --xattrs -xpf"),
    ])
    func `an archiver unpacks all of it, and says nothing`(name: String, command: String) throws {
        try write(rich, to: scratch["a.tar"])
        let said = try shell(
            "mkdir '\(scratch[name])' && LC_ALL=C.UTF-8 \(command) '\(scratch["a.tar"])' -C '\(scratch[name])' 2>&1")
        #expect(said == "")
        #expect(try listing(name, time: "%T@") == expected(time: time))
        try expectContents(name)
        try expectAttributes(name)
        #expect(try HostPath.status(scratch["\(name)/\(home)/Documents/sparse"]).blocks < 1000)
    }

    @Test(arguments: [
        "tar -tf", "bsdtar -tf",
        "python3 -c 'import sys, tarfile; print(*tarfile.open(sys.argv[1]).getnames(), sep=chr(10))'",
    ])
    func `an archiver lists all of it`(command: String) throws {
        try write(rich, to: scratch["a.tar"])
        let listed = try shell("LC_ALL=C.UTF-8 \(command) '\(scratch["a.tar"])' 2>&1").split(separator: "\n")
            .map { $0.hasSuffix("/") ? String($0.dropLast()) : String($0) }
        // GNU tar shows bytes of more than 7 bits as octal numbers where the terminal's language is none.
        let names = [".appcontainer/Backup.json"] + rich.map(\.path) + [".appcontainer/Manifest"]
        #expect(listed.map { $0.replacing("Gr\\303\\266\\303\\237e", with: "Größe") } == names)
    }

    @Test func `Python unpacks it`() throws {
        try write(rich, to: scratch["a.tar"])
        try shell(
            "python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' '\(scratch["a.tar"])' '\(scratch["py"])'"
        )
        // It gives symbolic links no time.
        #expect(try listing("py", time: "-") == expected(time: "-"))
        try expectContents("py")
    }

    @Test func `names that are no text are unpacked by all three`() throws {
        let name: [UInt8] = Array("\(home)/x".utf8) + [0xFF, 0xFE]
        try write(
            [.directory(home), .make(name, .fifo), .make(name + [0x80], .hardLink([FileName([0x78, 0xFF, 0xFE])!]))]
                .filter { $0.entry.kind != .hardLink([FileName([0x78, 0xFF, 0xFE])!]) }, to: scratch["a.tar"])
        for (index, command) in [
            "tar -xf", "bsdtar -xf",
            "python3 -c 'import sys, tarfile; tarfile.open(sys.argv[2]).extractall(sys.argv[4])' -",
        ].enumerated() {
            try shell("mkdir '\(scratch["\(index)"])' && \(command) '\(scratch["a.tar"])' -C '\(scratch["\(index)"])'")
            let listing = try shell("ls '\(scratch["\(index)"])/\(home)' | od -An -tx1")
            #expect(listing.trimmingCharacters(in: .whitespacesAndNewlines) == "78 ff fe 0a", "\(command)")
        }
    }

    @Test func `the manifest's digest of a file is what sha256sum says`() throws {
        try write(plain, to: scratch["a.tar"])
        let line = try shell("tar -xOf '\(scratch["a.tar"])' .appcontainer/Manifest | grep 'deep/b$'")
        let sum = try shell("tar -xOf '\(scratch["a.tar"])' '\(home)/Documents/deep/b' | sha256sum").prefix(64)
        #expect(line.split(separator: " ")[3] == sum)
    }
}
