// Property lists in XML, as tools other than Apple's write them. Only what such a list can be: no entities or elements
// of a document's own, and no deeper than one that is meant.

enum XMLPropertyList {
    static func decode(_ bytes: [UInt8]) -> PropertyList? {
        var parser = XMLPropertyListParser(bytes)
        return parser.decode()
    }
}

private struct XMLPropertyListParser {
    private let bytes: [UInt8]
    private var position = 0

    private enum Tag: Equatable {
        case start(String)
        case end(String)
        case empty(String)
    }

    init(_ bytes: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        self.bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
    }

    mutating func decode() -> PropertyList? {
        guard let tag = tag(), tag == .start("plist"), let first = self.tag(), let list = value(first, depth: 0),
            self.tag() == .end("plist")
        else { return nil }
        skipSpace()
        return position == bytes.count ? list : nil
    }

    private mutating func value(_ tag: Tag, depth: Int) -> PropertyList? {
        guard depth < PropertyList.deepest else { return nil }
        switch tag {
        case .empty("true"): return .boolean(true)
        case .empty("false"): return .boolean(false)
        case .empty("array"): return .array([])
        case .empty("dict"): return .dictionary([:])
        case .empty("string"): return .string("")
        case .empty("data"): return .data([])
        case .start("array"):
            var values: [PropertyList] = []
            while let next = self.tag() {
                if next == .end("array") { return .array(values) }
                guard let value = value(next, depth: depth + 1) else { return nil }
                values.append(value)
            }
            return nil
        case .start("dict"):
            var values: [String: PropertyList] = [:]
            while let next = self.tag() {
                if next == .end("dict") { return .dictionary(values) }
                guard next == .start("key"), let key = text(in: "key"), let tag = self.tag(),
                    let value = value(tag, depth: depth + 1), values.updateValue(value, forKey: key) == nil
                else { return nil }
            }
            return nil
        case .start(let name): return text(in: name).flatMap { scalar(name, $0) }
        default: return nil
        }
    }

    private func scalar(_ name: String, _ text: String) -> PropertyList? {
        let trimmed = String(
            text.trimmingPrefix(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        switch name {
        case "string": return .string(text)
        case "integer": return Int64(trimmed).map(PropertyList.integer)
        case "real": return Double(trimmed).map(PropertyList.real)
        case "data": return base64(text).map(PropertyList.data)
        // When a backup was made says nothing of what is in it.
        case "date": return .date(0)
        default: return nil
        }
    }

    private func base64(_ text: String) -> [UInt8]? {
        var (bits, count): (UInt32, Int) = (0, 0)
        var (result, isPadded): ([UInt8], Bool) = ([], false)
        for byte in text.utf8 {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): digit = 62
            case UInt8(ascii: "/"): digit = 63
            case UInt8(ascii: "="):
                isPadded = true
                continue
            case 0x20, 0x09, 0x0A, 0x0D: continue
            default: return nil
            }
            guard !isPadded else { return nil }
            (bits, count) = (bits << 6 | UInt32(digit), count + 6)
            if count >= 8 {
                count -= 8
                result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return count < 6 ? result : nil
    }

    // MARK: Bytes

    /// The next tag, whatever comments, instructions and space come before it. Text is an error here.
    private mutating func tag() -> Tag? {
        while true {
            skipSpace()
            if skip("<?", through: "?>") || skip("<!--", through: "-->") { continue }
            // A declaration with a part of its own in brackets could define anything.
            guard has("<!DOCTYPE") else { break }
            guard let end = bytes[position...].firstIndex(of: UInt8(ascii: ">")),
                !bytes[position..<end].contains(UInt8(ascii: "["))
            else { return nil }
            position = end + 1
        }
        guard has("<"), let end = bytes[position...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
        var name = bytes[position + 1..<end]
        guard !name.contains(UInt8(ascii: "<")) else { return nil }
        position = end + 1
        let isEnd = name.first == UInt8(ascii: "/")
        let isEmpty = name.last == UInt8(ascii: "/")
        guard !(isEnd && isEmpty) else { return nil }
        if isEnd { name = name.dropFirst() }
        if isEmpty { name = name.dropLast() }
        // Attributes mean nothing in a property list; `plist` has one.
        let word = String(decoding: name.prefix { !XMLPropertyListParser.space.contains($0) }, as: UTF8.self)
        return isEnd ? .end(word) : isEmpty ? .empty(word) : .start(word)
    }

    /// The text up to the element's end.
    private mutating func text(in name: String) -> String? {
        guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "<")) else { return nil }
        let raw = bytes[position..<end]
        position = end
        guard tag() == .end(name), let text = String(validating: raw, as: UTF8.self) else { return nil }
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var result = ""
        var pieces = text.split(separator: "&", omittingEmptySubsequences: false)
        result += pieces.removeFirst()
        for piece in pieces {
            guard let semicolon = piece.firstIndex(of: ";"),
                let character = XMLPropertyListParser.character(piece[..<semicolon])
            else { return nil }
            result.append(character)
            result += piece[piece.index(after: semicolon)...]
        }
        return result
    }

    private static func character(_ entity: Substring) -> Character? {
        switch entity {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard entity.first == "#" else { return nil }
            let digits = entity.dropFirst()
            let number = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return number.flatMap(Unicode.Scalar.init).map { Character($0) }
        }
    }

    private static let space: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]

    private mutating func skipSpace() {
        while position < bytes.count, XMLPropertyListParser.space.contains(bytes[position]) { position += 1 }
    }

    private func has(_ word: String) -> Bool { bytes[position...].starts(with: word.utf8) }

    private mutating func skip(_ start: String, through end: String) -> Bool {
        guard has(start) else { return false }
        var place = position + start.utf8.count
        while place < bytes.count {
            if bytes[place...].starts(with: end.utf8) {
                position = place + end.utf8.count
                return true
            }
            place += 1
        }
        return false
    }
}
