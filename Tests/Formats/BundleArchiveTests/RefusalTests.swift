// The archives that are refused, and the one line that says why.

import BundleArchive
import Foundation
import SandboxModel
import TestSupport
import Testing

@Suite struct RefusalTests {
    static let contradiction = "is damaged: its table of contents does not agree with what lies in it"
    static let deep = "Payload/Notes.app/" + String(repeating: "d/", count: 127)
    static let long = "Payload/Notes.app/" + String(repeating: "n", count: 256)

    /// What is added to an app, and what is said of it.
    static let entries: [([ZipEntry], String)] = [
        // Names that lead elsewhere, and such as are none.
        ([.file("/etc/passwd")], "/etc/passwd has an absolute name"),
        ([.file("Payload/Notes.app/../../x")], "Payload/Notes.app/../../x has a name with a \"..\" in it"),
        ([.file("../x")], "../x has a name with a \"..\" in it"),
        ([.directory("Payload/Notes.app/..")], "Payload/Notes.app/../ has a name with a \"..\" in it"),
        ([.file("Symbols/../x")], "Symbols/../x has a name with a \"..\" in it"),
        ([.file("Payload//x")], "Payload//x has a name with an empty part or a \".\" in it"),
        ([.file("Payload/./x")], "Payload/./x has a name with an empty part or a \".\" in it"),
        ([.directory("Payload/Notes.app/")], "Payload/Notes.app// has a name with an empty part or a \".\" in it"),
        ([.file("")], "has an entry without a name"),
        ([.file(".")], ". is no name for a file"),
        ([.file("Payload/Notes.app/a\0b")], "Payload/Notes.app/a?b has a name with a NUL in it"),
        ([.file("x\ny\u{1B}\u{9B}/../z")], "x?y??/../z has a name with a \"..\" in it"),
        ([.file(long)], long.prefix(200) + "… has a name with a part of more than 255 bytes"),
        ([.file(deep + "f")], String((deep + "f").prefix(200)) + "… lies deeper than 128 directories"),
        // Two of one name.
        ([.file("Payload/Notes.app/Info.plist")], "Payload/Notes.app/Info.plist is there twice"),
        ([.file("Symbols/a"), .file("./Symbols/a")], "./Symbols/a is there twice"),
        ([.directory("Payload/Notes.app/Info.plist")], "Payload/Notes.app/Info.plist/ is there twice"),
        ([.file("Payload/Notes.app/a/b"), .file("Payload/Notes.app/a")], "Payload/Notes.app/a is there twice"),
        ([.link("Payload/Notes.app/a", "b"), .link("Payload/Notes.app/a", "b")], "Payload/Notes.app/a is there twice"),
        (
            [.file("Payload/Notes.app/a"), .file("Payload/Notes.app/a/b")],
            "Payload/Notes.app/a/b lies in Payload/Notes.app/a, which is not a directory"
        ),
        (
            [.link("Payload/Notes.app/a", "."), .file("Payload/Notes.app/a/b")],
            "Payload/Notes.app/a/b lies in Payload/Notes.app/a, which is not a directory"
        ),
        // Links.
        (
            [.link("Payload/Notes.app/a", "/etc/passwd")],
            "Payload/Notes.app/a is a symbolic link out of the bundle"
        ),
        ([.link("Payload/Notes.app/a", "../b")], "Payload/Notes.app/a is a symbolic link out of the bundle"),
        (
            [.link("Payload/Notes.app/a", "none/../../../b")],
            "Payload/Notes.app/a is a symbolic link out of the bundle"
        ),
        (
            [.link("Payload/Notes.app/a", "d/up/.."), .link("Payload/Notes.app/d/up", "..")],
            "Payload/Notes.app/a is a symbolic link out of the bundle"
        ),
        ([.link("Payload/Notes.app/a", "")], "Payload/Notes.app/a is a symbolic link without a target"),
        (
            [.link("Payload/Notes.app/a", String(repeating: "x", count: 4096))],
            "Payload/Notes.app/a is a symbolic link with too long a target"
        ),
        ([.link("Payload/Notes.app/a", "b\0c")], "Payload/Notes.app/a is damaged"),
        ([.link("Payload/Notes.app/a", "b").with { $0.checksum = 7 }], "Payload/Notes.app/a is damaged"),
        // Other kinds.
        (
            [.file("Payload/Notes.app/fifo", mode: 0o010644)],
            "Payload/Notes.app/fifo is neither a file, a directory nor a symbolic link"
        ),
        ([.file("device", mode: 0o020644)], "device is neither a file, a directory nor a symbolic link"),
        ([.file("device", mode: 0o060644)], "device is neither a file, a directory nor a symbolic link"),
        ([.file("socket", mode: 0o140644)], "socket is neither a file, a directory nor a symbolic link"),
        (
            [.link("Payload/Notes.app/a/", "b")],
            "Payload/Notes.app/a/ is neither a file, a directory nor a symbolic link"
        ),
        ([.file("Payload/Notes.app/a/")], "Payload/Notes.app/a/ is a directory with content of its own"),
        // Content.
        ([.file("secret").with { $0.flags = 1 }], "secret is encrypted"),
        ([.file("secret").with { $0.flags = 1 << 6 }], "secret is encrypted"),
        (
            [.file("Payload/Notes.app/a").with { $0.method = 12 }],
            "Payload/Notes.app/a is compressed by method 12; an app's files are stored or deflated"
        ),
        ([.file("Payload/Notes.app/a").with { $0.checksum = 7 }], "Payload/Notes.app/a is damaged"),
        (
            [
                .file("Payload/Notes.app/a").with {
                    $0.checksum = 7
                    $0.method = 8
                }
            ], "Payload/Notes.app/a is damaged"
        ),
        (
            [
                .file("Payload/Notes.app/a").with {
                    $0.size = 6
                    $0.method = 8
                }
            ], "Payload/Notes.app/a is damaged"
        ),
        (
            [
                .file("Payload/Notes.app/a").with {
                    $0.size = 8
                    $0.method = 8
                }
            ], "Payload/Notes.app/a is damaged"
        ),
        ([.file("Payload/Notes.app/a").with { $0.size = 8 }], "Payload/Notes.app/a is damaged"),
        ([.file("Payload/Notes.app/a", "").with { $0.checksum = 7 }], "Payload/Notes.app/a is damaged"),
        // Two readings of one archive.
        ([.file("Payload/Notes.app/a").with { $0.localName = Array("Payload/Notes.app/b".utf8) }], contradiction),
        ([.file("Payload/Notes.app/a").with { $0.compressed = 1000 }], "Payload/Notes.app/a is damaged"),
        (
            [
                .file("Payload/Notes.app/a").with {
                    $0.compressed = 1000
                    $0.method = 8
                }
            ], contradiction
        ),
        (
            [
                .file("Payload/Notes.app/a").with {
                    $0.extra = Zip.little(UInt16(0x7075)) + Zip.little(UInt16(6)) + [1, 0, 0, 0, 0] + [0x62]
                }
            ], "Payload/Notes.app/a has two names"
        ),
        ([.file("Payload/Notes.app/a").with { $0.extra = [1, 0, 9, 9] }], contradiction),
        (
            // A field by which libarchive takes the file for a link.
            [
                .file("Payload/Notes.app/a").with {
                    $0.localExtra = Zip.little(UInt16(0x6C78)) + Zip.little(UInt16(7)) + [5, 0, 3, 0, 0, 0xFF, 0xA1]
                }
            ], contradiction
        ),
        // What may lie in Payload.
        (
            [.file("Payload/readme.txt")],
            "has Payload/readme.txt; Payload holds one directory named like NAME.app"
        ),
        ([.file("Payload/x/y")], "has Payload/x; Payload holds one directory named like NAME.app"),
        ([.file("Payload/.app/y")], "has Payload/.app; Payload holds one directory named like NAME.app"),
        ([.file("Payload/a\n.app/y")], "has Payload/a?.app; Payload holds one directory named like NAME.app"),
        ([.link("Payload/a.app", "Notes.app")], "has Payload/a.app; Payload holds one directory named like NAME.app"),
        ([.directory("Payload/Old.app")], "has more than one app: Payload/Notes.app and Payload/Old.app"),
    ]

    @Test(arguments: entries.indices)
    func `an entry that cannot be an app's refuses the whole archive`(_ index: Int) throws {
        let (entries, reason) = RefusalTests.entries[index]
        #expect(try refusal(of: Zip.archive(app() + entries)) == reason)
    }

    @Test func `an archive without an app is none of an app`() throws {
        let none = "has no directory Payload: it is not an app's archive"
        #expect(try refusal(of: Zip.archive([])) == none)
        #expect(try refusal(of: Zip.archive([.file("Notes.app/Info.plist")])) == none)
        #expect(try refusal(of: Zip.archive([.file("Payload")])) == none)
        #expect(try refusal(of: Zip.archive([.file("Payload\\Notes.app\\Info.plist").with { $0.maker = 0 }])) == none)
        #expect(try refusal(of: Zip.archive([.directory("Payload")])) == "has no app in its directory Payload")
    }

    @Test func `a table of contents that readers could find in two places is refused`() throws {
        let good = Zip.archive(app())
        #expect(
            try refusal(of: Zip.archive(app(), before: Array(repeating: 0, count: 10))) == RefusalTests.contradiction)
        #expect(try refusal(of: good + [0]) == RefusalTests.contradiction)
        #expect(try refusal(of: good + good) == RefusalTests.contradiction)
        #expect(try refusal(of: Zip.archive(app(), comment: good)) == RefusalTests.contradiction)
        #expect(try refusal(of: Zip.archive(app(), count: 2)) == RefusalTests.contradiction)
        #expect(try refusal(of: Zip.archive(app(), is64: true, count: 70000)) == RefusalTests.contradiction)
        #expect(try refusal(of: Zip.archive(app(), comment: Array("made by a test".utf8))) == nil)
    }

    @Test func `two entries do not share their bytes`() throws {
        var bytes = Zip.archive(app(.file("Payload/Notes.app/a"), .file("Payload/Notes.app/b")))
        // The offset in the last record becomes that of the one before.
        let at = bytes.count - 22 - "Payload/Notes.app/b".utf8.count - 4
        let before = at - 46 - "Payload/Notes.app/a".utf8.count
        bytes.replaceSubrange(at..<at + 4, with: bytes[before..<before + 4])
        #expect(try refusal(of: bytes) == RefusalTests.contradiction)
    }

    @Test func `links that circle, or lead to nothing, are kept`() throws {
        let room = try Room()
        _ = try room.unpack(
            Zip.archive(
                app(
                    .link("Payload/Notes.app/a", "b"), .link("Payload/Notes.app/b", "d/../a/../.."),
                    .link("Payload/Notes.app/c", "nothing/there"), .link("Payload/Notes.app/d/e", "../c/../..")
                )))
        #expect(
            try room.listing().filter { $0.contains("->") } == [
                "Notes.app/a -> b", "Notes.app/b -> d/../a/../..", "Notes.app/c -> nothing/there",
                "Notes.app/d/e -> ../c/../..",
            ])
    }

    @Test func `a long chain of links is not followed for ever`() throws {
        let links = (0..<50).map { ZipEntry.link("Payload/Notes.app/\($0)", "\($0 + 1)") }
        #expect(
            try refusal(of: Zip.archive(app() + links))
                == "Payload/Notes.app/40 is at the end of too many symbolic links")
        #expect(try refusal(of: Zip.archive(app() + links.suffix(40))) == nil)
    }
}
