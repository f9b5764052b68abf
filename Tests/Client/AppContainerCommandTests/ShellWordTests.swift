// Words of a shell's line.

import Testing

@testable import AppContainerCommand

@Suite struct ShellWordTests {
    /// After each of these letters a backquote is no `Character` of its own.
    @Test(arguments: ["\u{D4E}", "\u{600}", "\u{110BD}"])
    func nothingThatAShellObeysIsWithoutItsBackslash(letter: String) {
        let word = ShellWord.escaped("a\(letter)`b\(letter)$c\(letter) d")
        #expect(Array(word.unicodeScalars) == Array("a\\\(letter)\\`b\\\(letter)\\$c\\\(letter)\\ d".unicodeScalars))
    }

    @Test(arguments: ["plain", "with blanks", "it's \"so\"", "a\\b", "\u{D4E}`\u{D4E}'", "/\u{301}x"])
    func anEscapedValueIsReadBack(value: String) {
        #expect(Array(ShellWord.value(of: ShellWord.escaped(value), home: nil).utf8) == Array(value.utf8))
    }

    @Test(arguments: [
        ("~", "/home/me"), ("~/a", "/home/me/a"), ("~a", "~a"), ("'a b", "a b"), ("\"a\\$b\\c\"", "a$b\\c"),
        ("'\u{D4E}'\\ x", "\u{D4E} x"),
    ])
    func aWordIsTakenApart(word: String, value: String) {
        #expect(ShellWord.value(of: word, home: "/home/me") == value)
    }
}
