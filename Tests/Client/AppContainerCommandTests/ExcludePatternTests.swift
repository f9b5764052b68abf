// The forms in which tools read a path; the mounted tests try them with the tools.

import Testing

@testable import AppContainerCommand

@Suite struct ExcludePatternTests {
    private func pattern(_ tool: ExcludingTool, _ path: String, endsWithNUL: Bool = false) -> String? {
        tool.pattern(for: Array(path.utf8), endsWithNUL: endsWithNUL).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: ExcludingTool.allCases)
    func aPlainPathStaysAsItIs(tool: ExcludingTool) {
        let path = "/home/me/notes/Documents/a b#'-c"
        #expect(pattern(tool, path) == (tool == .duplicity ? "\"\(path)\"" : path))
    }

    @Test func wildcardsAreQuotedInTheToolsOwnWay() {
        let path = #"/a*b?[c]\d"#
        #expect(pattern(.restic, path) == #"/a\*b\?\[c]\\d"#)
        #expect(pattern(.tar, path) == #"/a\*b\?\[c]\\d"#)
        #expect(pattern(.rsync, path) == #"/a\*b\?\[c]\\d"#)
        #expect(pattern(.duplicity, path) == #""/a[*]b[?][[]c]\d""#)
        // Without a wildcard, rsync takes a backslash as it is.
        #expect(pattern(.rsync, #"/a\b"#) == #"/a\b"#)
    }

    @Test func whatAToolTakesForMoreThanAWildcardIsQuoted() {
        #expect(pattern(.restic, "/$HOME") == "/$$HOME")
        #expect(pattern(.restic, "/a ") == "/a[ ]")
        #expect(pattern(.restic, "/a\u{A0}") == "/a[\u{A0}]")
        #expect(pattern(.tar, "/a\t") == "/a[\t]")
        #expect(pattern(.tar, "/a\t", endsWithNUL: true) == "/a\t")
        #expect(pattern(.tar, "/a\u{A0}") == "/a\u{A0}")
        #expect(pattern(.rsync, "/a ") == "/a ")
    }

    @Test func aLineEndIsAClassOfItsOwn() {
        #expect(pattern(.restic, "/a\nb") == "/a[^\u{1}-\t\u{B}-\u{10FFFF}]b")
        #expect(pattern(.duplicity, "/a\rb") == "\"/a[^\u{1}-\u{C}\u{E}-\u{10FFFF}]b\"")
        let bytes = ExcludingTool.rsync.pattern(for: Array("/a\n".utf8), endsWithNUL: false)
        #expect(bytes == Array("/a[^".utf8) + [1, 0x2D, 9, 0x0B, 0x2D, 0xFF] + Array("]".utf8))
        #expect(pattern(.tar, "/a\nb") == nil)
        #expect(pattern(.tar, "/a\nb", endsWithNUL: true) == "/a\nb")
    }

    @Test func whatHasNoFormIsGivenNone() {
        #expect(ExcludingTool.duplicity.pattern(for: [0x2F, 0xFF], endsWithNUL: true) == nil)
        #expect(pattern(.rsync, "/" + String(repeating: "a", count: 4095)) == nil)
        #expect(pattern(.rsync, "/" + String(repeating: "a", count: 4094)) != nil)
        #expect(pattern(.restic, "/" + String(repeating: "*", count: 33_000)) == nil)
        #expect(pattern(.restic, "/" + String(repeating: "a", count: 33_000)) != nil)
    }
}
