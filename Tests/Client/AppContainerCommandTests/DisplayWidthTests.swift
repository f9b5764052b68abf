// Text in the columns of a terminal.

import Testing

@testable import AppContainerCommand

@Suite("The columns of text")
struct DisplayWidthTests {
    @Test(arguments: [
        ("plain", 5), ("", 0), ("漢字", 4), ("한글", 4), ("ｆｕｌｌ", 8), ("e\u{301}", 1), ("é", 1), ("😀", 2), ("👍🏽", 4),
        ("\u{1112}\u{1161}\u{11AB}", 2), ("\u{AD}a", 2), ("…", 1), ("𠀀", 2), ("🇩🇪", 4),
    ])
    func `a character takes one column, two or none`(text: String, columns: Int) {
        #expect(DisplayWidth.of(text) == columns)
    }

    @Test(arguments: [
        (4, "漢字"), (3, "漢…"), (2, "…"), (1, "…"), (0, ""), (-1, ""),
    ])
    func `a text is cut before a character that does not fit as a whole`(most: Int, cut: String) {
        #expect(DisplayWidth.fitted("漢字", to: most) == cut)
    }

    @Test func `a text that fits is whole`() {
        #expect(DisplayWidth.fitted("Notes é 漢", to: 10) == "Notes é 漢")
    }

    @Test(arguments: [
        ("a\u{1B}[2Jb", #"a\u{1b}[2Jb"#), ("a\u{202E}b", #"a\u{202e}b"#), ("a\nb", #"a\nb"#),
        ("a\u{9B}b", #"a\u{9b}b"#),
        ("a\u{200B}b", #"a\u{200b}b"#), ("a\u{E0041}b", #"a\u{e0041}b"#), ("\u{301}a", "a"),
        ("a\u{301}\u{302}\u{303}\u{304}b", "a\u{301}\u{302}b"), ("👩\u{200D}👩", "👩👩"), ("❤\u{FE0F}", "❤"),
    ])
    func `no character moves or hides another`(text: String, shown: String) {
        let fitted = DisplayWidth.fitted(text, to: 80)
        #expect(Array(fitted.unicodeScalars) == Array(shown.unicodeScalars))
    }

    @Test func `blanks go up to a column`() {
        #expect(DisplayWidth.padded("漢", to: 4) == "漢  ")
        #expect(DisplayWidth.padded("漢字", to: 3) == "漢字")
    }
}
