// The check of the nesting of XML property lists, before Foundation's recursive parser gets them.

/// A scanner of XML that counts how deep the elements are nested.
///
/// Foundation's parser takes a stack frame for each level, and some thousand levels overflow the stack. The OpenStep
/// form is refused.
struct PropertyListDepth {
    /// The limit of nesting, many times that of real lists.
    private static let deepest = 64

    private let text: [UInt8]
    /// The offset of the next byte.
    private var index = 0
    /// Start tags minus end tags so far.
    private var depth = 0

    /// Whether a list is XML that is not nested too deep.
    static func isSafe(_ bytes: [UInt8]) -> Bool {
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        guard first == UInt8(ascii: "<") else { return false }
        var list = PropertyListDepth(text: bytes)
        return list.isSafe()
    }

    private init(text: [UInt8]) {
        self.text = text
    }

    /// Counts the nesting of tags. Text that two parsers could read differently is refused: `<` where no tag can begin,
    /// internal declarations of a document type, CDATA sections. In doubt it counts too many levels.
    private mutating func isSafe() -> Bool {
        while let next = next("<", from: index) {
            index = next + 1
            guard index < text.count else { return true }
            let isWhole =
                switch text[index] {
                case UInt8(ascii: "?"): skipInstruction()
                case UInt8(ascii: "!"): has("!--") ? skipComment() : has("!DOCTYPE plist PUBLIC") && skipTag() != nil
                default: count()
                }
            guard isWhole, (0...PropertyListDepth.deepest).contains(depth) else { return false }
        }
        return true
    }

    /// Counts a start tag, an end tag, or an empty-element tag.
    /// - Returns: false for a malformed tag.
    private mutating func count() -> Bool {
        let start = index
        guard let end = skipTag() else { return false }
        if text[start] == UInt8(ascii: "/") {
            depth -= 1
            return true
        }
        // A quoted attribute could contain the `/>`, so a tag with attributes counts as a start tag.
        let isEmpty =
            text[end - 1] == UInt8(ascii: "/")
            && !text[start..<end].contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }
        depth += isEmpty ? 0 : 1
        return true
    }

    /// Skips a tag.
    /// - Returns: the offset of its `>`; nil if another tag begins in it.
    private mutating func skipTag() -> Int? {
        guard let end = next(">", from: index), first("<", in: index..<end) == nil, first("[", in: index..<end) == nil
        else { return nil }
        index = end + 1
        return end
    }

    /// Skips a processing instruction, such as the XML declaration. An encoding other than UTF-8 is refused.
    private mutating func skipInstruction() -> Bool {
        index += 1
        let start = index
        repeat {
            guard let end = next(">", from: index) else { return false }
            index = end + 1
        } while index - start < 2 || text[index - 2] != UInt8(ascii: "?")
        guard first("<", in: start..<index) == nil else { return false }
        // In other encodings, other bytes would be tags.
        let words = String(decoding: text[start..<index], as: UTF8.self).lowercased()
        return words.split(separator: "encoding", omittingEmptySubsequences: false).dropFirst().allSatisfy { rest in
            rest.drop { " =\"'\t\r\n".contains($0) }.hasPrefix("utf-8")
        }
    }

    /// Skips a comment.
    private mutating func skipComment() -> Bool {
        index += 3
        while let dash = next("-", from: index) {
            index = dash + 1
            guard has("-") else { continue }
            // XML allows `--` in a comment only as a part of its end.
            index += 1
            return has(">")
        }
        return false
    }

    // MARK: Bytes

    private func next(_ byte: Unicode.Scalar, from start: Int) -> Int? { first(byte, in: start..<text.count) }

    private func first(_ byte: Unicode.Scalar, in range: Range<Int>) -> Int? {
        let byte = UInt8(ascii: byte)
        var index = range.lowerBound
        while index < range.upperBound {
            if text[index] == byte { return index }
            index += 1
        }
        return nil
    }

    /// Whether a word comes next.
    private func has(_ word: StaticString) -> Bool {
        text[index...].starts(with: word.description.utf8)
    }
}
