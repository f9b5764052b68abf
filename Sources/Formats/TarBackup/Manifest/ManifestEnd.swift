// The last line of a manifest.

import Platform

/// The last line of a manifest, of fixed length, so that it can be found from the end of an archive.
///
/// `end LINES BYTES DIGEST`: the number of lines before it, and of their bytes, in 16 decimal digits each, and SHA-256
/// of the manifest up to the digest.
struct ManifestEnd: Equatable {
    var lines: Int64
    /// Bytes of the lines.
    var bytes: Int64
    /// Identifies the backup: other content gives another digest.
    var digest: [UInt8]

    /// Bytes of the line, with its newline.
    static let length = 4 + 16 + 1 + 16 + 1 + 64 + 1

    /// The line up to the digest.
    var beginning: [UInt8] {
        let digits = { (number: Int64) in
            let text = String(number)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }
        return Array("end \(digits(lines)) \(digits(bytes)) ".utf8)
    }

    var encoded: [UInt8] { beginning + Array("\(digest.hexadecimal)\n".utf8) }

    init(lines: Int64, bytes: Int64, digest: [UInt8]) {
        (self.lines, self.bytes, self.digest) = (lines, bytes, digest)
    }

    /// Parses the line.
    /// - Returns: nil for anything but a line as ``encoded`` gives it.
    init?(_ text: [UInt8]) {
        guard text.count == ManifestEnd.length,
            let lines = Int64(String(decoding: text[4..<20], as: UTF8.self)),
            let bytes = Int64(String(decoding: text[21..<37], as: UTF8.self)), lines >= 0, bytes >= 0,
            let digest = [UInt8](hexadecimal: text[38..<102])
        else { return nil }
        self.init(lines: lines, bytes: bytes, digest: digest)
        guard encoded == text else { return nil }
    }
}
