// A path as a line of the exclude list of a backup tool, so that it matches this path and no other.

import AppContainer
import ArgumentParser
import SandboxModel

/// A tool that reads an exclude list. The raw values are the words on the command line.
enum ExcludingTool: String, CaseIterable, ExpressibleByArgument {
    case restic, tar, rsync, duplicity

    /// The form in which each tool reads a path.
    ///
    /// Every tool takes its lines for patterns, and each quotes in its own way. A line end, which would end the line,
    /// is given as a class without any other character.
    ///
    /// - Parameters:
    ///   - path: its bytes; it begins with `/` or `.`, so that no line is taken for a comment or a rule of its own.
    ///   - endsWithNUL: whether lines end with NUL.
    /// - Returns: nil for a path that the tool has no form for.
    func pattern(for path: [UInt8], endsWithNUL: Bool) -> [UInt8]? {
        switch self {
        case .restic: restic(path)
        case .tar: tar(path, endsWithNUL: endsWithNUL)
        case .rsync: rsync(path)
        case .duplicity: duplicity(path)
        }
    }

    /// The reason why ``pattern(for:endsWithNUL:)`` has none, and the way out: the end of a sentence.
    var limit: String {
        switch self {
        case .restic: "is longer than a line of restic's list; give it a shorter name"
        case .tar: "has a line end, and tar reads its list by lines; add --print0, and see the manual for tar's options"
        case .rsync: "is longer than a pattern of rsync; give it a shorter name"
        case .duplicity: "is not UTF-8, and duplicity reads its list as text; give it another name"
        }
    }

    // MARK: Forms

    private static let (lineFeed, carriageReturn, backslash) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(0x5C))
    private static let wildcards = Array("*?[".utf8)
    /// isspace(3), but for the line end.
    private static let spaces = Array(" \t\u{B}\u{C}\r".utf8)
    /// The longest line that Go's bufio.Scanner gives, in bytes.
    private static let longestResticLine = (64 << 10) - 1
    /// rsync drops a pattern of MAXPATHLEN bytes.
    private static let longestRsyncPattern = 4095

    /// Go's path/filepath.Match. The line is trimmed, and `$` begins a variable.
    private func restic(_ path: [UInt8]) -> [UInt8]? {
        let (path, end) = ExcludingTool.splitLastSpace(path)
        var pattern: [UInt8] = []
        for byte in path {
            switch byte {
            case ExcludingTool.lineFeed: pattern += ExcludingTool.onlyCharacter(byte, upTo: .codePoint)
            case UInt8(ascii: "$"): pattern += [byte, byte]
            default: pattern += ExcludingTool.escaped(byte)
            }
        }
        pattern += end
        return pattern.count <= ExcludingTool.longestResticLine ? pattern : nil
    }

    /// fnmatch(3). The line is trimmed at its end.
    private func tar(_ path: [UInt8], endsWithNUL: Bool) -> [UInt8]? {
        guard endsWithNUL || !path.contains(ExcludingTool.lineFeed) else { return nil }
        // The list ends with NUL for arguments, which nothing trims.
        guard !endsWithNUL else { return path.flatMap(ExcludingTool.escaped) }
        // By bytes, as tar does it: in a class, those of a longer character would each match a name that is not UTF-8.
        guard let last = path.last, ExcludingTool.spaces.contains(last) else {
            return path.flatMap(ExcludingTool.escaped)
        }
        return path.dropLast().flatMap(ExcludingTool.escaped) + Array("[".utf8) + [last] + Array("]".utf8)
    }

    /// rsync's wildmatch, for bytes. Without a wildcard a backslash is a character like any other.
    private func rsync(_ path: [UInt8]) -> [UInt8]? {
        let ends = [ExcludingTool.lineFeed, ExcludingTool.carriageReturn]
        var pattern = path
        if path.contains(where: { ends.contains($0) || ExcludingTool.wildcards.contains($0) }) {
            pattern = path.flatMap { byte in
                ends.contains(byte)
                    ? ExcludingTool.onlyCharacter(byte, upTo: .byte) : ExcludingTool.escaped(byte)
            }
        }
        return pattern.count <= ExcludingTool.longestRsyncPattern ? pattern : nil
    }

    /// Shell patterns without an escape, so that each wildcard is a class. Quotes keep spaces at the end.
    private func duplicity(_ path: [UInt8]) -> [UInt8]? {
        guard String(validating: path, as: UTF8.self) != nil else { return nil }
        let quote = [UInt8(ascii: "\"")]
        let ends = [ExcludingTool.lineFeed, ExcludingTool.carriageReturn]
        return quote
            + path.flatMap { byte in
                if ends.contains(byte) { return ExcludingTool.onlyCharacter(byte, upTo: .codePoint) }
                return ExcludingTool.wildcards.contains(byte) ? Array("[".utf8) + [byte] + Array("]".utf8) : [byte]
            } + quote
    }

    // MARK: Parts

    /// The last character that a class counts.
    private enum Last: String {
        case codePoint = "\u{10FFFF}"
        case byte = "\u{FF}"

        var bytes: [UInt8] { self == .byte ? [0xFF] : Array(rawValue.utf8) }
    }

    /// The class of one character: all but those before it and after it.
    private static func onlyCharacter(_ byte: UInt8, upTo last: Last) -> [UInt8] {
        // Go has `^` only, and every other tool has both.
        Array("[^".utf8) + [1] + Array("-".utf8) + [byte - 1, byte + 1] + Array("-".utf8) + last.bytes
            + Array("]".utf8)
    }

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        byte == backslash || wildcards.contains(byte) ? [backslash, byte] : [byte]
    }

    /// A space at a path's end as a class, which nothing trims; empty where the path ends with anything else. A line
    /// feed is left to the form.
    private static func splitLastSpace(_ path: [UInt8]) -> (rest: [UInt8], end: [UInt8]) {
        guard let last = String(decoding: path.suffix(4), as: UTF8.self).unicodeScalars.last, last != "\n",
            last.properties.isWhitespace
        else { return (path, []) }
        let space = Array(String(last).utf8)
        return (Array(path.dropLast(space.count)), Array("[".utf8) + space + Array("]".utf8))
    }
}
