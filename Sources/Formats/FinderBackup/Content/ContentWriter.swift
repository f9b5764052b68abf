// Writing the content of one file of a backup: encryption, holes and digest.

import DataProtection
import HashFunctions
import Platform
import SandboxModel

/// Writes content in ascending order to one file. Plain content keeps its holes; encrypted content has zeros there.
final class ContentWriter {
    private let file: Descriptor
    private let cipher: BackupCipher?
    private let buffer: PageBuffer
    /// Bytes in the buffer.
    private var filled = 0
    /// The offset in the content behind the buffer's last byte.
    private var position: Int64 = 0
    /// Bytes written by the caller, without holes.
    private(set) var given: Int64 = 0
    private var digest = MessageDigest(.sha256)

    /// A multiple of the cipher's block, so that full buffers need no padding.
    static let bufferSize = 256 << 10
    private static let zeros = PageBuffer(count: 64 << 10)

    /// - Parameters:
    ///   - file: an empty file.
    ///   - cipher: nil for content that is not encrypted.
    ///   - buffer: of ``bufferSize`` bytes, in use until ``finish(length:)``.
    init(_ file: consuming Descriptor, cipher: BackupCipher?, buffer: PageBuffer) {
        self.file = file
        self.cipher = cipher
        self.buffer = buffer
    }

    /// Writes bytes, after a hole up to their offset. The digest and, if encrypted, the file have zeros for it.
    /// - Throws: EINVAL for an offset before the end of earlier bytes.
    func write(_ bytes: borrowing RawSpan, at offset: Int64) throws(SystemError) {
        guard offset >= position else { throw .invalid }
        try skip(to: offset)
        given += Int64(bytes.byteCount)
        try append(bytes)
    }

    /// Ends the content, with a hole up to its length.
    /// - Returns: SHA-256 of the content, holes as zeros.
    func finish(length: Int64) throws(SystemError) -> [UInt8] {
        guard length >= position else { throw .invalid }
        try skip(to: length)
        if cipher != nil {
            // PKCS #7: 1 to 16 bytes up to a whole block, each with their number.
            let count = BackupCipher.blockLength - filled % BackupCipher.blockLength
            buffer.copy([UInt8](repeating: UInt8(count), count: count), to: filled)
            filled += count
            position += Int64(count)
            try flush()
        } else {
            try flush()
            try file.truncate(to: length)
        }
        return digest.finish()
    }

    /// Skips a hole.
    private func skip(to offset: Int64) throws(SystemError) {
        guard offset > position else { return }
        guard cipher != nil else {
            try flush()
            digest.update(zeros: offset - position)
            position = offset
            return
        }
        while position < offset {
            let count = Int(min(offset - position, Int64(ContentWriter.zeros.count)))
            try ContentWriter.zeros.withBytes(0, count: count) { bytes throws(SystemError) in try append(bytes) }
        }
    }

    /// Hashes bytes, and copies them into the buffer.
    private func append(_ bytes: borrowing RawSpan) throws(SystemError) {
        digest.update(bytes)
        var done = 0
        while done < bytes.byteCount {
            let count = min(bytes.byteCount - done, ContentWriter.bufferSize - filled)
            buffer.copy(bytes.extracting(done..<done + count), to: filled)
            filled += count
            position += Int64(count)
            done += count
            // A buffer that is not full has space for the padding.
            if filled == ContentWriter.bufferSize { try flush() }
        }
    }

    /// Encrypts the buffer, and writes it.
    private func flush() throws(SystemError) {
        guard filled > 0 else { return }
        cipher?.transform(buffer, at: 0, count: filled)
        try file.write(from: buffer, count: filled, to: position - Int64(filled))
        filled = 0
    }
}
