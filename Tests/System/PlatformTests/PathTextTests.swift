// Paths taken apart by bytes.

import Platform
import Testing

@Suite struct PathTextTests {
    /// A name that begins with a combining mark: with the slash before it, it is one `Character`.
    private static let mark = "\u{301}x"
    /// A name whose end takes the slash after it into one `Character`.
    private static let open = "x\u{600}"

    @Test(arguments: [
        ("/a/b", ["a", "b"]),
        ("//a//", ["a"]),
        ("", []),
        ("/\(mark)/a", [mark, "a"]),
        ("\(open)/../\(mark)", [open, "..", mark]),
    ])
    func namesLieBetweenSlashes(path: String, names: [String]) {
        #expect(HostPath.names(of: path).map { Array($0.utf8) } == names.map { Array($0.utf8) })
    }

    @Test func partsMayBeEmpty() {
        #expect(HostPath.parts(of: "/a//b") == ["", "a", "", "b"])
        #expect(HostPath.parts(of: "../\(Self.mark)") == ["..", Self.mark])
    }

    @Test(arguments: [
        ("/a/b", "/a", "b"), ("/a", "/a", ""), ("/ab", "/a", nil), ("/a/\(mark)", "/a", mark), ("/a", "/", "a"),
        ("/", "/", ""), ("/b", "/a", nil),
    ])
    func theRestIsWithinTheDirectory(path: String, directory: String, rest: String?) {
        #expect(HostPath.rest(of: path, in: directory) == rest)
        #expect(HostPath.lies(path, below: directory) == (rest.map { !$0.isEmpty } ?? false))
    }

    @Test func textsThatOnlyLookTheSameAreTwoPaths() {
        #expect(!HostPath.areSame("/caf\u{E9}", "/cafe\u{301}"))
        #expect(HostPath.rest(of: "/caf\u{E9}/a", in: "/cafe\u{301}") == nil)
    }

    @Test func slashesAtTheEndGo() {
        #expect(HostPath.withoutTrailingSlashes("/a//") == "/a")
        #expect(HostPath.withoutTrailingSlashes("//") == "/")
        #expect(HostPath.areSame(HostPath.withoutTrailingSlashes("\(Self.open)//"), Self.open))
        #expect(HostPath.withoutTrailingSlashes("") == "")
    }

    @Test func noAncestorIsPassedOver() {
        #expect(HostPath.withAncestors("/a/\(Self.mark)/b") == ["/a/\(Self.mark)/b", "/a/\(Self.mark)", "/a", "/"])
    }
}
