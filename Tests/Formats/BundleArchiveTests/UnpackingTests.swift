// Unpacking app archives: the resulting files, links, modes and times.

import BundleArchive
import Foundation
import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@Suite struct UnpackingTests {
    let scratch: UnpackingScratch

    init() throws { scratch = try UnpackingScratch() }

    @Test func `the bundle comes out with its files, directories and links`() throws {
        let name = try scratch.unpack(
            Zip.archive(
                app(
                    .file("Payload/Notes.app/Notes", "program", mode: 0o100755),
                    .directory("Payload/Notes.app/Frameworks"),
                    .link("Payload/Notes.app/Frameworks/Current", "../Info.plist"),
                    .file("Payload/Notes.app/Frameworks/empty", ""))))
        #expect(name == "Notes.app")
        #expect(
            try scratch.listing() == [
                "755 Notes.app/", "755 Notes.app/Frameworks/", "Notes.app/Frameworks/Current -> ../Info.plist",
                "644 Notes.app/Frameworks/empty: ", "644 Notes.app/Info.plist: plist", "755 Notes.app/Notes: program",
            ])
        #expect(scratch.isUntouchedOutside)
    }

    @Test func `stored and deflated content, with sizes before or after it, comes out the same`() throws {
        let content = String(repeating: "All work and no play. ", count: 9000)
        for (method, isStreamed) in [(0, false), (8, false), (0, true), (8, true)] as [(UInt16, Bool)] {
            let file = ZipEntry.file("Payload/Notes.app/text", content).with {
                $0.method = method
                $0.isStreamed = isStreamed
            }
            _ = try scratch.unpack(Zip.archive(app(file)))
            #expect(try String(contentsOfFile: scratch["Notes.app/text"], encoding: .utf8) == content)
            try scratch.clear()
        }
    }

    @Test func `an archive with fields of 64 bits is read`() throws {
        let large = ZipEntry.file("Payload/Notes.app/large", "1234").with {
            $0.extra = Zip.little(UInt16(1)) + Zip.little(UInt16(16)) + Zip.little(UInt64(4)) + Zip.little(UInt64(4))
            $0.localExtra = $0.extra
            $0.size = .max
            $0.compressed = .max
        }
        #expect(try scratch.unpack(Zip.archive(app(large), is64: true)) == "Notes.app")
        #expect(try String(contentsOfFile: scratch["Notes.app/large"], encoding: .utf8) == "1234")
    }

    @Test func `names come out byte for byte, composed or not, marked as UTF-8 or not`() throws {
        // Composed, decomposed, beyond the first plane, and not UTF-8.
        let names: [[UInt8]] = [
            Array("\u{DC}n\u{EF}code".utf8), Array("U\u{308}ni\u{308}code".utf8), Array("📱.txt".utf8),
            [0x66, 0xFF, 0xFE],
        ]
        for flags in [0, 1 << 11] as [UInt16] {
            let files = names.map { name in
                ZipEntry.file("").with {
                    $0.name = Array("Payload/Nötes.app/".utf8) + name
                    $0.flags = flags
                }
            }
            #expect(try scratch.unpack(Zip.archive(files)) == "Nötes.app")
            let directory = try Descriptor.open(path: scratch["Nötes.app"], flags: O_RDONLY | O_DIRECTORY)
            let reader = try directory.entries()
            var found: Set<FileName> = []
            while let entry = try reader.next() { found.insert(entry.name) }
            #expect(found == Set(names.compactMap { FileName($0) }))
            try scratch.clear()
        }
    }

    @Test func `the target of a link comes out byte for byte`() throws {
        for (method, flags) in [(0, 0), (0, 1 << 11), (8, 0)] as [(UInt16, UInt16)] {
            let link = ZipEntry.link("Payload/Notes.app/le\u{301}", "U\u{308}").with {
                $0.method = method
                $0.flags = flags
            }
            _ = try scratch.unpack(Zip.archive(app(link)))
            let app = try Descriptor.open(path: scratch["Notes.app"], flags: O_RDONLY | O_DIRECTORY)
            #expect(try app.symbolicLinkTarget("le\u{301}") == Array("U\u{308}".utf8))
            try scratch.clear()
        }
    }

    @Test func `directories that no entry tells of are made`() throws {
        #expect(try scratch.unpack(Zip.archive([.file("Payload/Notes.app/a/b/c", "deep")])) == "Notes.app")
        #expect(
            try scratch.listing() == [
                "755 Notes.app/", "755 Notes.app/a/", "755 Notes.app/a/b/", "644 Notes.app/a/b/c: deep",
            ])
    }

    @Test func `entries beside the app in an archive are skipped`() throws {
        let name = try scratch.unpack(
            Zip.archive(
                app(
                    .file("Payload/.DS_Store"), .file("Payload/._Notes.app"), .file("iTunesMetadata.plist"),
                    .file("SwiftSupport/iphoneos/libswiftCore.dylib"), .directory("Symbols"),
                    .file("__MACOSX/Payload/._Notes.app"), .link("META-INF/link", "/etc"))))
        #expect(name == "Notes.app")
        #expect(try scratch.listing() == ["755 Notes.app/", "644 Notes.app/Info.plist: plist"])
    }

    @Test func `a leading dot, an entry for the root and a repeated directory do no harm`() throws {
        let entries = [
            ZipEntry.directory("."), .directory("./Payload"), .directory("Payload/Notes.app"),
            .directory("./Payload/Notes.app", mode: 0o040700), .file("./Payload/Notes.app/file"),
        ]
        #expect(try scratch.unpack(Zip.archive(entries)) == "Notes.app")
        #expect(try scratch.listing() == ["700 Notes.app/", "644 Notes.app/file: content"])
    }

    @Test func `modes are kept without what changes the user, and the owner may always look`() throws {
        _ = try scratch.unpack(
            Zip.archive(
                app(
                    .file("Payload/Notes.app/set", mode: 0o106755), .file("Payload/Notes.app/closed", mode: 0o100000),
                    .file("Payload/Notes.app/untyped", mode: 0o600), .directory("Payload/Notes.app/d", mode: 0o041000),
                    .file("Payload/Notes.app/d/inside"),
                    .file("Payload/Notes.app/dos").with { $0.maker = 0 },
                    .file("Payload/Notes.app/dosDirectory", "").with {
                        $0.maker = 0
                        $0.dosAttributes = 0x10
                    })))
        #expect(
            try scratch.listing() == [
                "755 Notes.app/", "644 Notes.app/Info.plist: plist", "400 Notes.app/closed: content",
                "500 Notes.app/d/", "644 Notes.app/d/inside: content", "644 Notes.app/dos: content",
                "755 Notes.app/dosDirectory/", "755 Notes.app/set: content", "600 Notes.app/untyped: content",
            ])
    }

    @Test func `modification times are kept, of directories too`() throws {
        let stamp = Zip.little(UInt16(0x5455)) + Zip.little(UInt16(5)) + [1] + Zip.little(UInt32(1_234_567_890))
        let stamped = app(.file("Payload/Notes.app/d/file"), .directory("Payload/Notes.app/d")).map { entry in
            entry.with {
                $0.localExtra = stamp
                $0.extra = stamp
            }
        }
        _ = try scratch.unpack(Zip.archive(stamped))
        for name in ["Notes.app", "Notes.app/d", "Notes.app/d/file"] {
            let status = try Descriptor.openNode(path: scratch[name]).status()
            #expect(HostTime(status.modificationTime).nanoseconds == 1_234_567_890_000_000_000, "\(name)")
        }
    }

    @Test func `progress adds up to the bytes of the app`() throws {
        var total: Int64 = 0
        _ = try scratch.unpack(Zip.archive(app(.file("Payload/Notes.app/big", String(repeating: "x", count: 600_000)))))
        {
            total += $0
            return true
        }
        #expect(total == 600_005)
    }

    @Test func `progress can end the work at every step`() throws {
        let archive = Zip.archive(
            app(
                .file("Payload/Notes.app/big", String(repeating: "x", count: 600_000)), .file("other"),
                .link("Payload/Notes.app/link", "big")))
        var calls = 0
        _ = try scratch.unpack(archive) { _ in
            calls += 1
            return true
        }
        #expect(calls > 8)
        for end in 1...calls {
            try scratch.clear()
            var left = end
            let name = try scratch.unpack(archive) { _ in
                left -= 1
                return left > 0
            }
            #expect(name == nil && left == 0, "\(end)")
        }
    }

    @Test func `a file that is not there, is none or cannot hold an archive is told apart`() throws {
        #expect(throws: ArchiveFault.missing) { try scratch.unpack(path: scratch["no.ipa"]) }
        #expect(throws: ArchiveFault.missing) { try scratch.unpack(path: "") }
        #expect(throws: ArchiveFault.refused("is not a file")) { try scratch.unpack(path: scratch.target) }
        #expect(throws: ArchiveFault.refused("is not a file")) { try scratch.unpack(path: "/dev/zero") }
        try shell("mkfifo '\(scratch["fifo"])'")
        #expect(throws: ArchiveFault.refused("is not a file")) { try scratch.unpack(path: scratch["fifo"]) }
        #expect(try refusal(of: []) == "is not a zip archive, or its end is missing")
        #expect(
            try refusal(of: Array("#!/bin/sh\necho not an app\nexit 0\n".utf8))
                == "is not a zip archive, or its end is missing")
    }

    @Test func `a directory that is not empty is not written over`() throws {
        try FileManager.default.createDirectory(atPath: scratch["Notes.app"], withIntermediateDirectories: false)
        #expect(throws: ArchiveFault.host(.exists)) { try scratch.unpack(Zip.archive(app())) }
    }
}
