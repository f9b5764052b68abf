// Reading the content of one file of a backup: decryption, holes and digest.

import DataProtection
import HashFunctions
import Platform
import SandboxModel

/// The open content of one file. Encrypted content (AES-256 in CBC mode, PKCS #7 padding) can be read only once, in
/// order.
final class ContentReader {
    enum Failure: Error {
        case host(SystemError)
        /// The content is cut short, changed, or of another length than its record says.
        case damaged
        /// The error of the closure that gets the content.
        case complaint(Complaint)
    }

    private let file: SharedDescriptor
    private let storedLength: Int64
    private let cipher: BackupCipher?
    /// Bytes of the content, without padding.
    let length: Int64

    /// - Parameters:
    ///   - storedLength: bytes of the file.
    ///   - key: the wrapped key of the record; nil for content that is not encrypted.
    /// - Throws: ``Failure/damaged`` for an invalid key or padding.
    init(
        _ file: SharedDescriptor, storedLength: Int64, key: (wrapped: [UInt8], keys: BackupKeys)?,
        buffer: PageBuffer
    ) throws(Failure) {
        guard let key else {
            (length, cipher) = (storedLength, nil)
            self.storedLength = storedLength
            self.file = file
            return
        }
        let block = BackupCipher.blockLength
        guard storedLength > 0, storedLength % Int64(block) == 0 else { throw .damaged }
        // The padding, and so the length, is in the last block. In CBC mode the block before it is its vector.
        let tail = min(storedLength, Int64(2 * block))
        guard try ContentReader.read(file.descriptor, into: buffer, count: Int(tail), from: storedLength - tail) else {
            throw .damaged
        }
        let vector = tail == Int64(block) ? nil : buffer.bytes(0, count: block)
        guard let last = key.keys.decryption(wrappedKey: key.wrapped, vector: vector),
            let cipher = key.keys.decryption(wrappedKey: key.wrapped)
        else { throw .damaged }
        last.transform(buffer, at: Int(tail) - block, count: block)
        let bytes = buffer.bytes(Int(tail) - block, count: block)
        let padding = Int(bytes[block - 1])
        guard (1...block).contains(padding), bytes.suffix(padding).allSatisfy({ $0 == UInt8(padding) }) else {
            throw .damaged
        }
        length = storedLength - Int64(padding)
        self.cipher = cipher
        self.storedLength = storedLength
        self.file = file
    }

    /// Whether content in the clear is as long as ciphertext of so many bytes: the next multiple of a block, as
    /// PKCS #7 always adds something.
    /// - Parameter size: 0 or more.
    func isPadded(from size: Int64) -> Bool {
        let block = Int64(BackupCipher.blockLength)
        return length % block == 0 && length > size && length - size <= block
    }

    /// The ranges of the file that are not holes, by lseek(2) with SEEK_DATA. Encrypted content has no holes.
    /// - Throws: ``Failure/host(_:)``.
    func dataRanges() throws(Failure) -> [Range<Int64>] {
        guard cipher == nil else { return length > 0 ? [0..<length] : [] }
        do throws(SystemError) {
            var ranges: [Range<Int64>] = []
            var position: Int64 = 0
            while position < length, let start = try file.descriptor.nextData(from: position), start < length {
                position = min(try file.descriptor.nextHole(from: start), length)
                guard start < position else { break }
                ranges.append(start..<position)
            }
            return ranges
        } catch {
            throw .host(error)
        }
    }

    /// Bytes of a hole between two calls that let the caller cancel.
    private static let cancellationInterval: Int64 = 256 << 20

    /// Reads the ranges in order, and verifies the digest.
    /// - Parameters:
    ///   - digest: SHA-256 of the content with holes as zeros; nil to verify nothing.
    ///   - body: called with bytes and their offset, and within long holes with no bytes, so that it can cancel.
    /// - Throws: ``Failure/damaged`` for another digest, and for stored bytes that are missing; the error of `body`.
    func read(
        _ ranges: [Range<Int64>], digest expected: [UInt8]?, buffer: PageBuffer,
        _ body: (borrowing RawSpan, Int64) throws(Complaint) -> Void
    ) throws(Failure) {
        var digest = expected.map { _ in MessageDigest(.sha256) }
        var position: Int64 = 0
        for range in ranges {
            try pass(from: position, to: range.lowerBound, digest: &digest, buffer: buffer, body)
            position = range.lowerBound
            while position < range.upperBound {
                let count = Int(min(range.upperBound - position, step(at: position)))
                let start = try fetch(from: position, count: count, buffer: buffer)
                do throws(Complaint) {
                    try buffer.withBytes(start, count: count) { bytes throws(Complaint) in try body(bytes, position) }
                } catch {
                    throw .complaint(error)
                }
                digest?.update(buffer, at: start, count: count)
                position += Int64(count)
            }
        }
        try pass(from: position, to: length, digest: &digest, buffer: buffer, body)
        guard var digest = digest.take() else { return }
        guard digest.finish() == expected else { throw .damaged }
    }

    /// Skips a hole, and hashes it as zeros. In encrypted content it is stored as zeros, which are checked.
    private func pass(
        from start: Int64, to end: Int64, digest: inout MessageDigest?, buffer: PageBuffer,
        _ body: (borrowing RawSpan, Int64) throws(Complaint) -> Void
    ) throws(Failure) {
        var position = start
        guard position < end, digest != nil || cipher != nil else { return }
        if cipher == nil { buffer.zero(0, count: ContentWriter.bufferSize) }
        while position < end {
            let count = Int(min(end - position, cipher == nil ? Int64(ContentWriter.bufferSize) : step(at: position)))
            var place = 0
            if cipher != nil {
                place = try fetch(from: position, count: count, buffer: buffer)
                guard buffer.isZero(place, count: count) else { throw .damaged }
            }
            digest?.update(buffer, at: place, count: count)
            position += Int64(count)
            guard (position - start) % ContentReader.cancellationInterval < Int64(count) else { continue }
            do throws(Complaint) {
                try body(RawSpan(), position)
            } catch {
                throw .complaint(error)
            }
        }
    }

    /// The bytes from a position to the end of its buffer. Encrypted content is decrypted in whole buffers.
    private func step(at position: Int64) -> Int64 {
        Int64(ContentWriter.bufferSize) - (cipher == nil ? 0 : position % Int64(ContentWriter.bufferSize))
    }

    /// The range of the content that lies decrypted in the buffer.
    private var decrypted: Range<Int64> = 0..<0

    /// Brings bytes of the content into the buffer.
    /// - Returns: their offset in the buffer.
    private func fetch(from position: Int64, count: Int, buffer: PageBuffer) throws(Failure) -> Int {
        guard let cipher else {
            guard try ContentReader.read(file.descriptor, into: buffer, count: count, from: position) else {
                throw .damaged
            }
            return 0
        }
        if !decrypted.contains(position) {
            precondition(position == decrypted.upperBound, "a piece was left out")
            let end = min(position + Int64(ContentWriter.bufferSize), storedLength)
            let piece = Int(end - position)
            guard try ContentReader.read(file.descriptor, into: buffer, count: piece, from: position) else {
                throw .damaged
            }
            cipher.transform(buffer, at: 0, count: piece)
            decrypted = position..<end
        }
        return Int(position - decrypted.lowerBound)
    }

    /// - Returns: false if the file has fewer bytes.
    private static func read(
        _ file: borrowing Descriptor, into buffer: PageBuffer, count: Int, from offset: Int64
    ) throws(Failure) -> Bool {
        do throws(SystemError) {
            return try file.read(into: buffer, count: count, from: offset) == count
        } catch {
            throw .host(error)
        }
    }
}
