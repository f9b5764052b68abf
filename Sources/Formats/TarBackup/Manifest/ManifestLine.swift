// One line of a manifest: an entry with its digests.

import HashFunctions
import Platform

/// The manifest's record of an entry.
///
/// `+ f METADATA CONTENT PATH`: whether the entry is in this archive (`+`) or in the backup that it continues (`=`), a
/// letter for the kind, SHA-256 of ``TarEntry/encoded`` and of the content (`-` without content), and the path. In a
/// path a newline is written as `\n` and a backslash as `\\`; all other bytes stand as they are.
struct ManifestLine: Equatable {
    /// The letter of a kind: f, d, l, h, p, s.
    enum Kind: UInt8 {
        case file = 0x66
        case directory = 0x64
        case symbolicLink = 0x6C
        case hardLink = 0x68
        case fifo = 0x70
        case socket = 0x73
    }

    /// False if the entry is in the backup that this one continues.
    var isInThisArchive: Bool
    var kind: Kind
    /// SHA-256 of the entry without its content.
    var metadata: [UInt8]
    /// SHA-256 of a file's content, holes as zeros, as `sha256sum` prints it of the unpacked file; nil for other kinds.
    var content: [UInt8]?
    var path: [UInt8]

    /// The digest of an empty file.
    static let digestOfNothing = HashFunction.sha256.digest(of: [])

    /// The offset of the first digest in a line.
    private static let start = 4
    private static let digits = 2 * HashFunction.sha256.length
    private static let (newline, backslash) = (UInt8(ascii: "\n"), UInt8(ascii: "\\"))

    /// The limit of a line in bytes: every byte of the path may be escaped.
    static let longest = 2 * ArchivePath.longest + 1024

    init(isInThisArchive: Bool, kind: Kind, metadata: [UInt8], content: [UInt8]?, path: [UInt8]) {
        (self.isInThisArchive, self.kind, self.path) = (isInThisArchive, kind, path)
        (self.metadata, self.content) = (metadata, content)
    }

    /// The line with its newline.
    var encoded: [UInt8] {
        let space = UInt8(ascii: " ")
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ManifestLine.start + 2 * ManifestLine.digits + path.count + 4)
        bytes += [isInThisArchive ? UInt8(ascii: "+") : UInt8(ascii: "="), space, kind.rawValue, space]
        bytes += metadata.hexadecimal.utf8
        bytes.append(space)
        if let content { bytes += content.hexadecimal.utf8 } else { bytes.append(UInt8(ascii: "-")) }
        bytes.append(space)
        for byte in path {
            switch byte {
            case ManifestLine.newline: bytes += Array("\\n".utf8)
            case ManifestLine.backslash: bytes += Array("\\\\".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(ManifestLine.newline)
        return bytes
    }

    /// Parses a line.
    /// - Parameter bytes: the line without its newline.
    /// - Returns: nil for a malformed line.
    init?(_ bytes: [UInt8]) {
        let digits = ManifestLine.digits
        let afterMetadata = ManifestLine.start + digits
        guard bytes.count > afterMetadata + 3, bytes[1] == 0x20, bytes[3] == 0x20, bytes[afterMetadata] == 0x20,
            bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "="), let kind = Kind(rawValue: bytes[2]),
            let metadata = [UInt8](hexadecimal: bytes[ManifestLine.start..<afterMetadata])
        else { return nil }
        var content: [UInt8]?
        var place = afterMetadata + 2
        if bytes[place - 1] != UInt8(ascii: "-") {
            place = afterMetadata + 1 + digits
            guard bytes.count > place + 1, let digest = [UInt8](hexadecimal: bytes[(afterMetadata + 1)..<place]) else {
                return nil
            }
            content = digest
        }
        // Exactly files have a digest of content.
        guard (content != nil) == (kind == .file), bytes[place] == 0x20 else { return nil }
        guard let path = ManifestLine.unescaped(bytes[(place + 1)...]), !path.isEmpty else { return nil }
        self.init(
            isInThisArchive: bytes[0] == UInt8(ascii: "+"), kind: kind, metadata: metadata, content: content,
            path: path)
    }

    /// Undoes the escapes of a path; nil for a backslash before anything else.
    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        guard bytes.contains(backslash) else { return Array(bytes) }
        var path: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == backslash else {
                path.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "n"): path.append(newline)
            case backslash: path.append(backslash)
            default: return nil
            }
        }
        return path
    }
}
