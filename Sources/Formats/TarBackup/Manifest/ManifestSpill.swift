// The manifest of an archive that is being written: in a file without a name, because it may be too large for memory.

import Glibc
import HashFunctions
import Platform
import SandboxModel

/// Collects the lines of a manifest in a file, and their digest.
struct ManifestSpill: ~Copyable {
    private let file: SharedDescriptor
    private let buffer = PageBuffer(count: 256 << 10)
    /// Bytes in the buffer, and in the file.
    private var fill = 0
    private var written: Int64 = 0
    private var lines: Int64 = 0
    private var digest = MessageDigest(.sha256)

    /// - Parameter file: an empty file.
    init(_ file: SharedDescriptor) {
        self.file = file
    }

    /// Appends the line of an entry.
    /// - Throws: ENOSPC and other errors of the host.
    mutating func append(_ line: ManifestLine) throws(SystemError) {
        try append(line.encoded)
        lines += 1
    }

    /// - Parameter bytes: fewer than the buffer holds, as ``ManifestLine/longest`` ensures.
    private mutating func append(_ bytes: [UInt8]) throws(SystemError) {
        if bytes.count > buffer.count - fill { try flush() }
        let place = fill
        bytes.withSpan { buffer.copy($0, to: place) }
        fill += bytes.count
    }

    /// Hashes the buffer, and writes it to the file.
    private mutating func flush() throws(SystemError) {
        digest.update(buffer, at: 0, count: fill)
        try file.descriptor.write(from: buffer, count: fill, to: written)
        written += Int64(fill)
        fill = 0
    }

    /// Appends the last line. The file then holds the whole manifest.
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
