// File names: valid and invalid bytes, and paths.

import SandboxModel
import Testing

@Suite("File names")
struct FileNameTests {
    @Test("One component of a path is a name", arguments: ["a", "...", ".hidden", "..a", "a b", "é", "-", "Ａ\u{200B}"])
    func valid(text: String) throws {
        let name = try #require(FileName(text))
        #expect(Array(name.bytes) == Array(text.utf8))
        #expect(name.terminated == Array(text.utf8) + [0])
        #expect(name.text == text)
    }

    @Test(
        "A text that could lead elsewhere, or to nothing, is no name",
        arguments: ["", ".", "..", "/", "a/b", "../a", "a/"])
    func invalid(text: String) {
        #expect(FileName(text) == nil)
    }

    @Test("NUL is in no name")
    func nul() {
        #expect(FileName([0x61, 0]) == nil)
        #expect(FileName([0]) == nil)
        #expect(FileName([0, 0x61]) == nil)
    }

    @Test("255 bytes are a name, 256 are not; bytes count, not characters")
    func length() {
        #expect(FileName(String(repeating: "n", count: 255)) != nil)
        #expect(FileName(String(repeating: "n", count: 256)) == nil)
        #expect(FileName(String(repeating: "é", count: 127)) != nil)
        #expect(FileName(String(repeating: "é", count: 128)) == nil)
    }

    @Test("A name that is not UTF-8 stays as it is, and so do two ways to write one letter")
    func bytes() throws {
        let name = try #require(FileName([0xFF, 0x61, 0x80]))
        #expect(Array(name.bytes) == [0xFF, 0x61, 0x80])
        #expect(FileName("e\u{301}") != FileName("\u{E9}"))
    }
}
