// SHA-256 of a content with holes, which count as the zeros that they read as.

import BundleSeal
import Platform

/// A running digest of pieces in ascending order.
final class ContentDigest {
    private var digest = MessageDigest(.sha256)
    private var position: Int64 = 0
    private let length: Int64
    private static let zeros = PageBuffer(count: 1 << 16)

    init(length: Int64) {
        self.length = length
    }

    func add(_ bytes: RawSpan, at offset: Int64) {
        addZeros(to: offset)
        digest.update(bytes)
        position += Int64(bytes.byteCount)
    }

    private func addZeros(to end: Int64) {
        while position < end {
            let count = Int(min(end - position, Int64(ContentDigest.zeros.count)))
            digest.update(ContentDigest.zeros, at: 0, count: count)
            position += Int64(count)
        }
    }

    func finish() -> [UInt8] {
        addZeros(to: length)
        return digest.finish()
    }
}
