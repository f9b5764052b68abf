// A file's content on its way into the backup: holes kept, or all of it encrypted; and its digest.

import DataProtection
import HashFunctions
import Platform
import SandboxModel

/// Takes content in ascending order and puts it into one file.
final class ContentWriter {
    private let file: Descriptor
    private let cipher: BackupCipher?
    private let buffer: PageBuffer
    private var filled = 0
    /// How far the content has come; what is in the buffer is counted.
    private var position: Int64 = 0
    /// How many bytes were given, holes not counted.
    private(set) var given: Int64 = 0
    private var digest = MessageDigest(.sha256)

    static let bufferSize = 256 << 10
    private static let zeros = PageBuffer(count: 64 << 10)

    /// - Parameters:
    ///   - file: empty.
    ///   - cipher: nil where the content is stored as it is.
    ///   - buffer: of ``bufferSize``, and nobody else's until ``finish(length:)``.
    init(_ file: consuming Descriptor, cipher: BackupCipher?, buffer: PageBuffer) {
        self.file = file
        self.cipher = cipher
        self.buffer = buffer
    }

    /// - Parameter offset: at or behind the end of what was written before.
    func write(_ bytes: borrowing RawSpan, at offset: Int64) throws(SystemError) {
        guard offset >= position else { throw .invalid }
        try skip(to: offset)
        given += Int64(bytes.byteCount)
        try append(bytes)
    }

    /// - Returns: SHA-256 of the content with its holes as zeros.
    func finish(length: Int64) throws(SystemError) -> [UInt8] {
        guard length >= position else { throw .invalid }
        try skip(to: length)
        if cipher != nil {
            // PKCS#7: as many bytes as are missing, and a whole block where none is.
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

    private func append(_ bytes: borrowing RawSpan) throws(SystemError) {
        digest.update(bytes)
        var done = 0
        while done < bytes.byteCount {
            let count = min(bytes.byteCount - done, ContentWriter.bufferSize - filled)
            buffer.copy(bytes.extracting(done..<done + count), to: filled)
            filled += count
            position += Int64(count)
            done += count
            // A buffer that is full is of whole blocks, and there is room for the padding in one that is not.
            if filled == ContentWriter.bufferSize { try flush() }
        }
    }

    private func flush() throws(SystemError) {
        guard filled > 0 else { return }
        cipher?.transform(buffer, at: 0, count: filled)
        try file.write(from: buffer, count: filled, to: position - Int64(filled))
        filled = 0
    }
}
