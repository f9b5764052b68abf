// How deep a property list in XML is nested, seen before a decoder that descends by recursion is let near it.

/// Foundation's parser of XML takes a frame of the stack for each level: some thousand of them end the process. The
/// OpenStep form, which is refused, has a limit of its own.
struct PropertyListDepth {
    /// Many times what is meant.
    private static let deepest = 64

    private let text: [UInt8]
    private var index = 0
    private var depth = 0

    /// Whether a list can be decoded: it is XML that is not nested deeper than any that means it.
    static func isSane(_ bytes: [UInt8]) -> Bool {
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        guard first == UInt8(ascii: "<") else { return false }
        var list = PropertyListDepth(text: bytes)
        return list.isSane()
    }

    private init(text: [UInt8]) {
        self.text = text
    }

    /// Counts start tags less end tags: what a parser descends. Whatever two parsers could take for different things is
    /// refused: `<` where no tag can begin, declarations of a document's own, sections of CDATA. In doubt it counts too
    /// many.
    private mutating func isSane() -> Bool {
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

    /// A start tag, an end tag, or the tag of an element without content.
    private mutating func count() -> Bool {
        let start = index
        guard let end = skipTag() else { return false }
        if text[start] == UInt8(ascii: "/") {
            depth -= 1
            return true
        }
        // With attributes it could end elsewhere than it seems.
        let isEmpty =
            text[end - 1] == UInt8(ascii: "/")
            && !text[start..<end].contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }
        depth += isEmpty ? 0 : 1
        return true
    }

    /// - Returns: where the tag ends; nil when another begins in it.
    private mutating func skipTag() -> Int? {
        guard let end = next(">", from: index), first("<", in: index..<end) == nil, first("[", in: index..<end) == nil
        else { return nil }
        index = end + 1
        return end
    }

    private mutating func skipInstruction() -> Bool {
        index += 1
        let start = index
        repeat {
            guard let end = next(">", from: index) else { return false }
            index = end + 1
        } while index - start < 2 || text[index - 2] != UInt8(ascii: "?")
        guard first("<", in: start..<index) == nil else { return false }
        // In other encodings other bytes are tags.
        let words = String(decoding: text[start..<index], as: UTF8.self).lowercased()
        return words.split(separator: "encoding", omittingEmptySubsequences: false).dropFirst().allSatisfy { rest in
            rest.drop { " =\"'\t\r\n".contains($0) }.hasPrefix("utf-8")
        }
    }

    private mutating func skipComment() -> Bool {
        index += 3
        while let dash = next("-", from: index) {
            index = dash + 1
            guard has("-") else { continue }
            // Two of them end the comment, or it is none.
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
