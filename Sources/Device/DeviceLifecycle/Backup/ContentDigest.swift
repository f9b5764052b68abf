// SHA-256 of a content with holes, which count as the zeros that they read as.

import HashFunctions
import Platform

/// A running digest of pieces in ascending order. The gaps between them count as zeros.
final class ContentDigest {
    private var digest = MessageDigest(.sha256)
    private var position: Int64 = 0
    private let length: Int64

    /// - Parameter length: of the content, which may end in a hole.
    init(length: Int64) {
        self.length = length
    }

    /// - Parameter offset: not before the end of the last piece.
    func add(_ bytes: RawSpan, at offset: Int64) {
        digest.update(zeros: offset - position)
        digest.update(bytes)
        position = offset + Int64(bytes.byteCount)
    }

    /// - Returns: the 32 bytes of SHA-256, with a hole up to the length. Called once.
    func finish() -> [UInt8] {
        digest.update(zeros: length - position)
        return digest.finish()
    }
}
