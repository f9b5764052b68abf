// The columns that text takes on a terminal, and text cut to columns.

/// A terminal counts columns, not characters: some take two, and some none.
enum DisplayWidth {
    /// The columns of a text; where terminals differ, as many as any of them takes.
    static func of(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + columns($1) } }

    /// A text on one line and in so many columns at most, with `…` in place of what is too much.
    ///
    /// No character of it moves another or is hidden in it: what a terminal obeys is escaped, of marks on one letter
    /// only the first ones are kept, and joiners, which terminals heed or do not, are left out.
    static func fitted(_ text: String, to most: Int) -> String {
        let text = plain(text)
        guard of(text) > most else { return text }
        guard most > 0 else { return "" }
        var left = most - 1
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            left -= columns(scalar)
            guard left >= 0 else { break }
            kept.append(scalar)
        }
        return String(kept) + "…"
    }

    /// A text with blanks behind it, up to so many columns.
    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(width - of(text), 0))
    }

    // MARK: Characters

    private static let mostMarks = 2

    private static func plain(_ text: String) -> String {
        var kept = String.UnicodeScalarView()
        var marks = 0
        for scalar in text.onOneLine.unicodeScalars {
            switch scalar.value {
            // ZERO WIDTH JOINER, and the variation selectors.
            case 0x200D, 0xFE00...0xFE0F, 0xE0100...0xE01EF: continue
            default: break
            }
            if isFormat(scalar) {
                kept.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
                marks = 0
            } else if columns(scalar) == 0 {
                marks += 1
                // At the beginning it would stand on the text before this one.
                if marks <= mostMarks, !kept.isEmpty { kept.append(scalar) }
            } else {
                kept.append(scalar)
                marks = 0
            }
        }
        return String(kept)
    }

    private static func isFormat(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // SOFT HYPHEN is shown by some terminals.
        case .format: true
        case .unassigned, .privateUse, .surrogate: scalar.properties.isDefaultIgnorableCodePoint
        default: false
        }
    }

    /// 0, 1 or 2.
    private static func columns(_ scalar: Unicode.Scalar) -> Int {
        guard scalar.value >= 0x300 else { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // Vowels and final consonants of Hangul join the consonant before them; the fillers are not seen.
        if (0x1160...0x11FF).contains(scalar.value) || (0xD7B0...0xD7FB).contains(scalar.value) { return 0 }
        if scalar.properties.isDefaultIgnorableCodePoint { return 0 }
        if scalar.properties.isEmojiPresentation || scalar.properties.isEmojiModifier { return 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// Wide and fullwidth characters of EastAsianWidth.txt (Unicode 16), blocks as a whole: an unassigned character
    /// among them counts as wide, as the standard wants it for most.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E,
        0x3041...0x33FF, 0x3400...0x4DBF, 0x4DC0...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
        0x1AFF0...0x1B2FB, 0x1D300...0x1D376, 0x1F000...0x1F02F, 0x1F0A0...0x1F0FF, 0x1F200...0x1F2FF,
        0x1F300...0x1F64F,
        0x1F680...0x1F6FF, 0x1F7E0...0x1F7F0, 0x1F900...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
