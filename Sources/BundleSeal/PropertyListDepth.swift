// How deep a property list is nested, seen before a decoder that descends by recursion is let near it.

/// Info.plists and CodeResources are written by anybody, and Foundation's parsers of text take a frame of the stack for
/// each level: some thousand of them end the process. Its binary form is read without recursion.
enum PropertyListDepth {
    /// Many times what a CodeResources or an Info.plist has.
    private static let deepest = 64

    /// Whether a list can be decoded: it is binary, or XML that is not nested deeper than any that means it. The
    /// OpenStep form, which no bundle has any more, is refused.
    static func isSane(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: Array("bplist".utf8)) { return true }
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        guard first == UInt8(ascii: "<") else { return false }
        return isSane(xml: bytes)
    }

    /// Counts start tags less end tags: what a parser of XML descends, whatever else is wrong with the text. In doubt
    /// it counts too many: end tags in comments take nothing off, and declarations of a document's own are refused.
    private static func isSane(xml text: [UInt8]) -> Bool {
        var depth = 0
        var index = 0
        var isComment = false
        while index + 1 < text.count {
            if isComment, text[index] == UInt8(ascii: "-"), has("-->", at: index, text) { isComment = false }
            if text[index] == UInt8(ascii: "<") {
                switch text[index + 1] {
                case UInt8(ascii: "/"): depth -= isComment ? 0 : 1
                case UInt8(ascii: "?"): break
                case UInt8(ascii: "!") where !isComment:
                    if has("<!--", at: index, text) {
                        isComment = true
                        index += 3
                    } else if !has("<!DOCTYPE plist PUBLIC", at: index, text) {
                        return false
                    }
                default: depth += 1
                }
                guard depth <= deepest else { return false }
            }
            index += 1
        }
        return true
    }

    private static func has(_ word: StaticString, at index: Int, _ text: [UInt8]) -> Bool {
        text[index...].starts(with: word.description.utf8)
    }
}
