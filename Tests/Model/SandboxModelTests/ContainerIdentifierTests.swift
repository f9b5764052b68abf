// Identifiers of apps and containers: valid ones, and the flaws of others.

import SandboxModel
import Testing

@Suite("Container identifiers")
struct ContainerIdentifierTests {
    @Test(
        "Bundle identifiers as Apple writes them, and groups' and iCloud's",
        arguments: ["com.example.Notes", "group.com.example", "iCloud.com.example", "A1-b_c", "x"])
    func valid(text: String) throws {
        let identifier = try #require(ContainerIdentifier(text))
        #expect(identifier.text == text)
        #expect(identifier.fileName.text == text)
    }

    @Test(
        "Nothing that could be a path, an option or hidden",
        arguments: [
            "", ".", "..", "a..b", ".a", "-a", "a/b", "/a", "../a", "a b", "com.exämple", "a:b", "a*",
        ])
    func invalid(text: String) {
        #expect(ContainerIdentifier(text) == nil)
        for end in ["\0", "\n"] { #expect(ContainerIdentifier(text + end) == nil) }
    }

    @Test("155 characters at most")
    func length() {
        #expect(ContainerIdentifier(String(repeating: "a", count: 155)) != nil)
        #expect(ContainerIdentifier(String(repeating: "a", count: 156)) == nil)
    }

    @Test(
        "The flaw of a text that is none is named",
        arguments: [
            ("", ContainerIdentifier.Flaw.empty), ("../a", .character), ("com..x", .twoDots), (".a", .beginning),
            ("-a", .beginning), ("com.exämple", .character), (String(repeating: "a", count: 156), .tooLong),
        ])
    func flaw(text: String, flaw: ContainerIdentifier.Flaw) {
        #expect(ContainerIdentifier.flaw(of: text) == flaw)
    }

    @Test("Listed in the order of their text")
    func order() {
        let sorted = ["b.a", "a.b", "a.a"].compactMap { ContainerIdentifier($0) }.sorted()
        #expect(sorted.map(\.text) == ["a.a", "a.b", "b.a"])
    }
}
