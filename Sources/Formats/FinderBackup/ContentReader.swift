// A file's content on its way out of the backup: decrypted where it is encrypted, and held against its digest.

import DataProtection
import HashFunctions
import Platform
import SandboxModel

/// One file of a backup that is open for reading.
final class ContentReader {
    enum Failure: Error {
        case host(SystemError)
        /// Cut, changed, or of another length than it is said to have.
        case damaged
        case complaint(Complaint)
    }

    private let file: SharedDescriptor
    private let storedLength: Int64
    private let cipher: BackupCipher?
    /// Of the content: without the padding.
    let length: Int64

    /// - Parameters:
    ///   - storedLength: the bytes of the file.
    ///   - key: as the record has it; nil for content that is stored as it is.
    /// - Throws: ``Failure/damaged`` where the key or the padding is none.
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
        // How long the content is stands in the last block, which the block before it is enough to decrypt.
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

    /// Where the file has data, as the host tells: content that is stored as it is keeps its holes.
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

    /// How much of a hole is passed over without a word.
    private static let longestSilence: Int64 = 256 << 20

    /// Gives what lies in the ranges, once; and in long holes nothing from time to time, so that the reader can end it.
    /// - Parameter digest: what the content must have; nil where nobody has told.
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

    /// What is a hole: nothing to read where the file has it as one, and nothing but zeros where it is encrypted.
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
            guard (position - start) % ContentReader.longestSilence < Int64(count) else { continue }
            do throws(Complaint) {
                try body(RawSpan(), position)
            } catch {
                throw .complaint(error)
            }
        }
    }

    /// Encrypted content can be had from one end to the other only: how far the piece goes that is or would be decrypted.
    private func step(at position: Int64) -> Int64 {
        Int64(ContentWriter.bufferSize) - (cipher == nil ? 0 : position % Int64(ContentWriter.bufferSize))
    }

    /// The piece that lies decrypted in the buffer.
    private var decrypted: Range<Int64> = 0..<0

    /// - Returns: where in the buffer the bytes are.
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
