// One line of a manifest: an entry, and what its bytes have to be.

import HashFunctions
import Platform

/// What the manifest says of an entry.
///
/// `+ f METADATA CONTENT PATH`: whether the entry is here (`+`) or in the backup that this one continues (`=`), a letter for
/// its kind, the SHA-256 of ``TarEntry/encoded`` and of the content, or `-` where it has none, and its path.
/// A line's end in a path is `\n`, and `\` is `\\`; its other bytes stand as they are.
struct ManifestLine: Equatable {
    enum Kind: UInt8 {
        case file = 0x66
        case directory = 0x64
        case symbolicLink = 0x6C
        case hardLink = 0x68
        case fifo = 0x70
        case socket = 0x73
    }

    var isHere: Bool
    var kind: Kind
    var metadata: [UInt8]
    /// Of a file with its holes as zeros, so that `sha256sum` of the unpacked file tells the same; nil for what is none.
    var content: [UInt8]?
    var path: [UInt8]

    /// The digest of a file of no bytes.
    static let digestOfNothing = HashFunction.sha256.digest(of: [])

    private static let start = 4
    private static let digits = 2 * HashFunction.sha256.length
    private static let (newline, backslash) = (UInt8(ascii: "\n"), UInt8(ascii: "\\"))

    /// Beyond it a line is none.
    static let longest = 2 * ArchivePath.longest + 1024

    init(isHere: Bool, kind: Kind, metadata: [UInt8], content: [UInt8]?, path: [UInt8]) {
        (self.isHere, self.kind, self.metadata, self.content, self.path) = (isHere, kind, metadata, content, path)
    }

    /// With the line's end.
    var encoded: [UInt8] {
        let space = UInt8(ascii: " ")
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ManifestLine.start + 2 * ManifestLine.digits + path.count + 4)
        bytes += [isHere ? UInt8(ascii: "+") : UInt8(ascii: "="), space, kind.rawValue, space]
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

    /// - Parameter bytes: without the line's end.
    /// - Returns: nil for what is no line of a manifest.
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
        guard (content != nil) == (kind == .file), bytes[place] == 0x20 else { return nil }
        guard let path = ManifestLine.unescaped(bytes[(place + 1)...]), !path.isEmpty else { return nil }
        self.init(isHere: bytes[0] == UInt8(ascii: "+"), kind: kind, metadata: metadata, content: content, path: path)
    }

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
