// The parser of POSIX extended regular expressions.

/// Parses one expression by recursive descent, and compiles it to the states of ``PathPattern``.
///
/// The words are those of regex(7): an expression is branches, a branch is pieces, a piece is an atom with repetitions.
/// Each function returns nil for an error, which makes the whole expression invalid.
struct PathPatternParser {
    private let text: [UInt8]
    private var index = 0

    init(_ text: [UInt8]) {
        self.text = text
    }

    private var next: Unicode.Scalar? { index < text.count ? Unicode.Scalar(text[index]) : nil }

    /// Parses the whole text.
    mutating func parse() -> [PathPattern.State]? {
        guard let states = branches(), index == text.count else { return nil }
        return states
    }

    /// Branches with `|` between them.
    private mutating func branches() -> [PathPattern.State]? {
        guard let first = branch() else { return nil }
        guard next == "|" else { return first }
        index += 1
        guard let others = branches() else { return nil }
        return [.either(1, first.count + 2)] + first + [.jump(others.count + 1)] + others
    }

    /// Pieces one after the other. An empty branch has none.
    private mutating func branch() -> [PathPattern.State]? {
        var states: [PathPattern.State] = []
        while let next, next != "|", next != ")" {
            guard let piece = piece() else { return nil }
            states += piece
        }
        return states
    }

    /// An atom with any number of `*`, `+` and `?` behind it. An anchor has none.
    private mutating func piece() -> [PathPattern.State]? {
        let isAnchor = next == "^" || next == "$"
        guard var states = atom() else { return nil }
        while let next, "*+?".unicodeScalars.contains(next) {
            guard !isAnchor else { return nil }
            index += 1
            switch next {
            case "*": states = [.either(1, states.count + 2)] + states + [.jump(-states.count - 1)]
            case "+": states += [.either(-states.count, 1)]
            default: states = [.either(1, states.count + 1)] + states
            }
        }
        return states
    }

    /// A group, a bracket expression, `.`, an anchor, an escaped character or any other byte.
    private mutating func atom() -> [PathPattern.State]? {
        guard let first = next else { return nil }
        index += 1
        switch first {
        case "(":
            guard let states = branches(), next == ")" else { return nil }
            index += 1
            return states
        case "[":
            guard let set = bracketExpression() else { return nil }
            return [.byte(set)]
        case ".": return [.byte(.all)]
        case "^": return [.start]
        case "$": return [.end]
        case "*", "+", "?", "{": return nil
        case "\\":
            // Before letters and some other characters, implementations give the backslash different meanings.
            guard let literal = next, "^.[]$()|*+?{}\\/-_ ".unicodeScalars.contains(literal) else { return nil }
            index += 1
            return [.byte(ByteSet(UInt8(ascii: literal)))]
        default: return first.value == 0 ? nil : [.byte(ByteSet(text[index - 1]))]
        }
    }

    // MARK: Bracket expressions

    /// A bracket expression behind its `[`: bytes, ranges and classes, inverted by a `^`.
    private mutating func bracketExpression() -> ByteSet? {
        var set = ByteSet()
        let isInverted = next == "^"
        if isInverted { index += 1 }
        let start = index
        while let first = next {
            if first == "]", index > start {
                index += 1
                if isInverted { set.invert() }
                return set
            }
            if first == "[", index + 1 < text.count, ":.=".utf8.contains(text[index + 1]) {
                guard addClass(to: &set) else { return nil }
                continue
            }
            let low = text[index]
            index += 1
            if next == "-", index + 1 < text.count, text[index + 1] != UInt8(ascii: "]") {
                let high = text[index + 1]
                guard low <= high, high != UInt8(ascii: "[") else { return nil }
                set.insert(low...high)
                index += 2
            } else {
                set.insert(low...low)
            }
        }
        return nil
    }

    /// Character classes such as `[:digit:]`, in the C locale.
    private static let classes: [String: [ClosedRange<Unicode.Scalar>]] = [
        "alpha": ["A"..."Z", "a"..."z"], "digit": ["0"..."9"], "alnum": ["0"..."9", "A"..."Z", "a"..."z"],
        "upper": ["A"..."Z"], "lower": ["a"..."z"], "xdigit": ["0"..."9", "A"..."F", "a"..."f"],
        "space": ["\t"..."\r", " "..." "], "blank": ["\t"..."\t", " "..." "],
        "punct": ["!"..."/", ":"..."@", "["..."`", "{"..."~"], "print": [" "..."~"], "graph": ["!"..."~"],
        "cntrl": ["\u{0}"..."\u{1F}", "\u{7F}"..."\u{7F}"],
    ]

    /// Parses a character class at the index. Equivalence classes and collating symbols are errors.
    private mutating func addClass(to set: inout ByteSet) -> Bool {
        let start = index + 2
        guard text[index + 1] == UInt8(ascii: ":"),
            let end = text[start...].firstIndex(of: UInt8(ascii: ":")), end + 1 < text.count,
            text[end + 1] == UInt8(ascii: "]"),
            let ranges = PathPatternParser.classes[String(decoding: text[start..<end], as: UTF8.self)]
        else { return false }
        for range in ranges { set.insert(UInt8(ascii: range.lowerBound)...UInt8(ascii: range.upperBound)) }
        index = end + 2
        return true
    }
}
