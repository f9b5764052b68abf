// A manifest while it is being made: on disk, not in memory, under no name.

import Glibc
import HashFunctions
import Platform
import SandboxModel

/// The last line of a manifest, of a fixed length, so that it is found from the end of an archive.
///
/// `end LINES BYTES DIGEST`: how many lines stand before it and how many bytes they take, 16 decimal digits each, and the
/// SHA-256 of all of the manifest that stands before the digest itself.
struct ManifestEnd: Equatable {
    var lines: Int64
    var bytes: Int64
    /// It names the backup: another content has another one.
    var digest: [UInt8]

    static let length = 4 + 16 + 1 + 16 + 1 + 64 + 1

    /// All that stands before the digest.
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

    /// - Returns: nil for what is no such line.
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

/// Takes the lines of a manifest, and keeps them in a file.
struct ManifestSpill: ~Copyable {
    private let file: SharedDescriptor
    private let buffer = PageBuffer(count: 256 << 10)
    private var fill = 0
    private var written: Int64 = 0
    private var lines: Int64 = 0
    private var digest = MessageDigest(.sha256)

    /// - Parameter file: empty.
    init(_ file: SharedDescriptor) {
        self.file = file
    }

    mutating func append(_ line: ManifestLine) throws(SystemError) {
        try append(line.encoded)
        lines += 1
    }

    private mutating func append(_ bytes: [UInt8]) throws(SystemError) {
        if bytes.count > buffer.count - fill { try flush() }
        let place = fill
        bytes.withSpan { buffer.copy($0, to: place) }
        fill += bytes.count
    }

    private mutating func flush() throws(SystemError) {
        digest.update(buffer, at: 0, count: fill)
        try file.descriptor.write(from: buffer, count: fill, to: written)
        written += Int64(fill)
        fill = 0
    }

    /// Adds the last line. The file then holds the whole manifest.
    mutating func finish() throws(SystemError) -> ManifestEnd {
        try flush()
        var end = ManifestEnd(lines: lines, bytes: written, digest: [])
        digest.update(end.beginning)
        end.digest = digest.finish()
        try append(end.encoded)
        try flush()
        return end
    }
}
