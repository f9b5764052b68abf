// Forged archives: content that a backup must not have, with correct digests.

import BackupModel
import SandboxModel
import TestSupport
import Testing

@testable import TarBackup

@Suite struct ForgeryTests {
    let scratch = Scratch()

    private let top = [Forged.sample(.directory(home)), .sample(.directory("\(home)/Documents"))]

    /// The complaint about an archive, without the name.
    private func refusal(_ bytes: [UInt8]) throws -> String? {
        let path = scratch["forged.tar"]
        try put(bytes, at: path)
        let refusal = complaint { _ = try read(path) }
        #expect(refusal == nil || refusal?.kind == .invalidBackup)
        return refusal.map { String($0.message.dropFirst(path.count + 1)) }
    }

    private func refusal(_ entries: Forged...) throws -> String? { try refusal(Forgery.archive(top + entries)) }

    @Test func `a forgery without a flaw is accepted`() throws {
        #expect(try refusal(.sample(.file("\(home)/Documents/a", "x"))) == nil)
    }

    @Test(arguments: ["..", ".", "a/../b", "a//b", "a/", ""]) func `a path that leads out, or is none`(name: String)
        throws
    {
        let path = "\(home)/Documents/\(name)"
        #expect(
            try refusal(.sample(.file("\(home)/Documents/x", "x"), at: path))
                == "has a path that is none, or leads out: \(path)")
        let absolute = try refusal(.sample(.file("\(home)/x", "x"), at: "/etc/\(name)"))
        #expect(absolute == "has a path from the root: /etc/\(name)" || absolute?.contains("out of order") == true)
    }

    @Test func `a path that is in no domain`() throws {
        #expect(
            try refusal(.sample(.file("\(home)/x", "x"), at: ".appcontainer/x"))
                == "has an entry that is in no domain: .appcontainer/x")
        #expect(
            try refusal(.sample(.file("\(home)/x", "x"), at: "AppDomain-z"))
                == "has a container that is no directory: AppDomain-z")
    }

    @Test func `entries twice, out of order, or where they cannot lie`() throws {
        let file = Forged.sample(.file("\(home)/Documents/a", "x"))
        #expect(try refusal(file, file) == "has \(home)/Documents/a twice")
        #expect(
            try refusal(.sample(.fifo("\(home)/Documents/b")), file) == "has \(home)/Documents/a out of order, or twice"
        )
        #expect(
            try refusal(file, .sample(.file("\(home)/Documents/a/b", "x")))
                == "has \(home)/Documents/a/b below what is no directory")
        let link = Forged.sample(.make("\(home)/Documents/l", .symbolicLink(Array("/etc".utf8))))
        #expect(
            try refusal(link, .sample(.file("\(home)/Documents/l/b", "x")))
                == "has \(home)/Documents/l/b below what is no directory")
        #expect(
            try refusal(.sample(.file("\(home)/Library/x", "x")))
                == "has \(home)/Library/x, but not the directory that it lies in")
        #expect(
            try refusal(.sample(.file("\(shared)/x", "x"))) == "has \(shared)/x, but not the directory that it lies in")
    }

    @Test func `hard links to an unsuitable or later entry`() throws {
        let file = Forged.sample(.file("\(home)/Documents/b", "x"))
        func link(_ name: String, to target: String) -> Forged {
            .raw("\(home)/Documents/\(name)", .hardLink, as: .hardLink, link: target)
        }
        let late = { (name: String) in
            "has a hard link to a file that does not come before it: \(home)/Documents/\(name)"
        }
        #expect(try refusal(file, .sample(.make("\(home)/Documents/c", .hardLink(["Documents", "b"])))) == nil)
        #expect(try refusal(link("a", to: "\(home)/Documents/b"), file) == late("a"))
        #expect(try refusal(file, .sample(.make("\(home)/Documents/c", .hardLink(["Documents", "a"])))) == late("c"))
        #expect(try refusal(file, .sample(.make("\(home)/Documents/c", .hardLink(["Documents"])))) == late("c"))
        #expect(try refusal(file, .sample(.make("\(home)/Documents/c", .hardLink([])))) != nil)
        #expect(
            try refusal(file, link("c", to: "\(shared)/b"))
                == "has a hard link that leads into another container: \(home)/Documents/c")
        #expect(
            try refusal(file, link("c", to: "\(home)/../\(shared)/b"))
                == "has a path that is none, or leads out: \(home)/../\(shared)/b")
    }

    @Test func `symbolic links that there cannot be`() throws {
        let path = "\(home)/Documents/x"
        let flaw = "has a symbolic link that there cannot be: \(path)"
        func link(_ length: Int) -> Forged {
            .sample(.make(path, .symbolicLink([UInt8](repeating: 97, count: length))))
        }
        #expect(try refusal(link(4095)) == nil)
        #expect(try refusal(link(4096)) == flaw)
        #expect(try refusal(.raw(path, .symbolicLink, as: .symbolicLink)) == flaw)
    }

    @Test func `kinds that no container holds`() throws {
        for letter in ["3", "4"] {
            var device = Forged.raw("\(home)/Documents/x") { $0[156] = letter.utf8.first! }
            device.repairChecksums()
            #expect(try refusal(device) == "has a device node, which no container holds: \(home)/Documents/x")
        }
        // A global extended header, for all entries that follow.
        var global = Forged.raw("\(home)/Documents/x") { $0[156] = UInt8(ascii: "g") }
        global.repairChecksums()
        #expect(try refusal(global) != nil)
    }

    @Test func `attributes and classes that there are none of`() throws {
        func with(_ keyword: String, _ value: String) -> Forged {
            .raw("\(home)/Documents/x", records: [(keyword, Array(value.utf8))])
        }
        let of = "of \(home)/Documents/x"
        #expect(
            try refusal(with("SCHILY.xattr.user.appcontainer.protection", "Nothing"))
                == "has \(home)/Documents/x of an unknown protection class: Nothing")
        for name in [
            "security.capability", "trusted.x", "system.posix_acl_access", "user.", "user.appcontainer.used",
            "user.xdg.robots.backup",
        ] {
            #expect(
                try refusal(with("SCHILY.xattr.\(name)", "x"))
                    == "has an attribute that no app's file has: \(name) \(of)")
        }
        #expect(
            try refusal(.raw("\(home)/Documents/x", .fifo, as: .fifo, records: [("SCHILY.xattr.user.x", [1])]))
                == "has attributes where an entry of its kind has none: \(home)/Documents/x")
        #expect(try refusal(with("uid", "-1"))?.hasPrefix("has an owner that no entry can have: -1:") == true)
        #expect(try refusal(with("uid", "4294967296")) != nil)
    }

    @Test func `sizes and maps that lie`() throws {
        let path = "\(home)/Documents/x"
        let cut = "is cut short; use another copy of it"
        #expect(try refusal(.raw(path, content: [1], size: 1 << 33 - 1)) == cut)
        #expect(try refusal(.raw(path, content: [1], size: 600)) != nil)
        #expect(
            try refusal(.raw(path, content: [1], records: [("size", Array("9223372036854775807".utf8))]))
                == "was altered: what should be the header of an entry is none; use another copy of it")
        func sparse(_ map: String, length: String = "10000", data: Int = 4) -> Forged {
            let block = Array(map.utf8) + [UInt8](repeating: 0, count: 512 - map.utf8.count)
            return .raw(
                path, content: block + [UInt8](repeating: 1, count: data),
                records: Forged.sparse(path, length: length))
        }
        let maps = [
            "1\n9999\n4\n", "2\n0\n2\n1\n2\n", "2\n8\n2\n0\n2\n", "1\n0\n5\n", "1\n0\n3\n", "1\n-1\n4\n", "x\n",
            "9999999\n0\n4\n",
            "1\n9223372036854775807\n4\n", "1\n0\n99999999999999999999\n",
        ]
        for map in maps { #expect(try refusal(sparse(map)) != nil, "\(map)") }
        #expect(try refusal(sparse("1\n0\n4\n", length: "9000000000000000000")) != nil)
    }

    @Test func `an entry that the manifest calls another one`() throws {
        let altered = "was altered: \(home)/Documents/x does not agree with its manifest; use another copy of it"
        #expect(try refusal(.raw("\(home)/Documents/x", as: .fifo)) == altered)
        #expect(
            try refusal(.raw("\(home)/Documents/x", records: [("path", Array("\(home)/Documents/y".utf8))])) == altered)
    }

    @Test func `headers of anything are refused, or are those of entries that can be written again`() throws {
        let entries: [Sample] = [
            .file("\(home)/Documents/a", "x").with {
                $0.entry.protection = .complete
                $0.entry.attributes = [.init(name: Array("user.x".utf8), value: [1, 2, 3])]
            },
            .make("\(home)/Documents/b", .hardLink(["Documents", "a"])),
            .sparse("\(home)/Documents/c", length: 9999, [0..<4, 4096..<4100], [1, 2, 3, 4, 5, 6, 7, 8]),
            .make("\(home)/Documents/d", .symbolicLink(Array(repeating: 0xE9, count: 120))),
            .make("\(home)/Documents/e", .socket),
        ]
        var accepted = 0
        let count = rounds(200, full: 500)
        for seed in 1...count {
            var generator = SeededGenerator(seed: UInt64(seed))
            var forged = entries.map { Forged.sample($0) }
            let chosen = Int.random(in: forged.indices, using: &generator)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                // A byte that is not amid zeros.
                let used = forged[chosen].header.indices.filter { forged[chosen].header[$0] != 0 }
                let place = used.randomElement(using: &generator)!
                let digit = UInt8(ascii: "0") + UInt8.random(in: 0...7, using: &generator)
                forged[chosen].header[place] =
                    Bool.random(using: &generator) ? digit : UInt8.random(in: 0...255, using: &generator)
            }
            forged[chosen].repairChecksums()
            let path = scratch["forged.tar"]
            try put(Forgery.archive(top + forged), at: path)
            do throws(Complaint) {
                let again = scratch["again.tar"]
                let samples = try read(path)
                try write(samples, to: again)
                #expect(try read(again).map(\.text) == samples.map(\.text), "seed \(seed)")
                try! shell("rm '\(again)'")
                accepted += 1
            } catch {
                #expect(error.kind == .invalidBackup, "seed \(seed): \(error)")
            }
        }
        // Changes of mode, owner or a value are valid entries.
        #expect((1..<450).contains(accepted))
    }

    @Test func `a manifest that is not the archive's`() throws {
        let entries = top + [.sample(.file("\(home)/Documents/a", "x")), .sample(.file("\(home)/Documents/b", "y"))]
        #expect(try refusal(Forgery.archive(entries)) == nil)
        #expect(try refusal(Forgery.archive(entries) { Array($0.dropLast()) }) != nil)
        #expect(try refusal(Forgery.archive(entries) { Array($0[..<3] + $0[4...]) }) != nil)
        #expect(try refusal(Forgery.archive(entries) { $0 + [$0.last!] }) != nil)
        #expect(try refusal(Forgery.archive(entries) { Array($0.dropFirst()) }) != nil)
        for change: @Sendable (inout ManifestLine) -> Void in [
            { $0.isInThisArchive = false }, { $0.content![0] ^= 1 }, { $0.metadata[0] ^= 1 }, { $0.path[0] ^= 1 },
        ] {
            let bytes = Forgery.archive(entries) { lines in
                var lines = lines
                change(&lines[3])
                return lines
            }
            #expect(try refusal(bytes) != nil)
        }
    }

    @Test func `a description of a newer format, and one that is none`() throws {
        let path = scratch["newer.tar"]
        try put(Forgery.archive(top, description: #"{"format": 2, "unknown": true}"#), at: path)
        #expect(
            complaint { _ = try read(path) }
                == Complaint(
                    .newerBackup, "\(path) was made by a newer version of appcontainer; restore it with that version"))
        for text in ["", "{}", "[]", #"{"format": 0, "apps": []}"#, #"{"format": 1}"#] {
            #expect(try refusal(Forgery.archive(top, description: text)) != nil, "\(text)")
        }
        let app = #"{"identifier": "../x", "name": "", "version": "", "groups": [], "owner": 1, "ownerGroup": 1}"#
        #expect(
            try refusal(Forgery.archive(top, description: #"{"format": 1, "apps": [\#(app)]}"#))
                == "names an app that there cannot be: ../x")
    }
}

extension Sample {
    static func fifo(_ path: String) -> Sample { make(path, .fifo) }
}
