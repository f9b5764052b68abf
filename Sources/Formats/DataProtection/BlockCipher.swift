// Sealing of blocks with AES-256-GCM: encrypted and authenticated content, and tags over bytes left in the clear.

public import Platform

/// Seals and opens blocks through one libcrypto context that is reused, so that a block costs no allocation.
///
/// Not for two threads at once: each workspace owns one. It holds the schedule of the key used last until another
/// key comes or ``wipe()`` is called.
@safe public final class BlockCipher {
    public static let nonceLength = 12
    public static let tagLength = 16
    /// What a slot takes: the nonce, then the tag.
    public static let slotLength = nonceLength + tagLength

    /// What a block is bound to: moved to another place, file or use, it no longer authenticates.
    public struct Binding: Equatable, Sendable {
        /// Which use of the key this is; no two uses share a number.
        public var domain: UInt8
        public var fileID: (UInt64, UInt64)
        /// Which block, group or record of the file.
        public var index: UInt64
        /// How many bytes of the block are content.
        public var length: UInt32

        public init(domain: UInt8, fileID: (UInt64, UInt64), index: UInt64, length: UInt32) {
            self.domain = domain
            self.fileID = fileID
            self.index = index
            self.length = length
        }

        public static func == (left: Self, right: Self) -> Bool {
            left.domain == right.domain && left.fileID == right.fileID && left.index == right.index
                && left.length == right.length
        }
    }

    /// A piece of a buffer: where it begins and how many bytes it has.
    public typealias Piece = (offset: Int, count: Int)

    private let context = GCMContext()

    /// The kernel's random bytes, a page at a time: one system call for 341 nonces.
    private let nonces = PageBuffer(count: PageBuffer.pageSize)
    private var nextNonce = PageBuffer.pageSize

    /// The binding as it is authenticated, 40 bytes.
    private let header = PageBuffer(count: 40)
    private static let headerLength = 40

    public init() {}

    /// Forgets the key schedule, and whatever of the last block is still in the context.
    public func wipe() {
        context.wipe()
    }

    /// Encrypts a block under a fresh random nonce.
    ///
    /// The ciphertext, as long as the plaintext, goes to `target` at `offset`; the nonce (12 bytes) and the tag (16)
    /// go to `slot` at `slotOffset`. The plaintext may lie exactly where the ciphertext goes.
    public func seal(
        _ plaintext: RawSpan, key: FileKey, binding: Binding, into target: PageBuffer, at offset: Int,
        slot: PageBuffer, slotOffset: Int
    ) {
        takeNonce(to: slot, at: slotOffset)
        seal(plaintext, key: key, binding: binding, into: target, at: offset, nonceAndTag: slot, at: slotOffset)
    }

    /// Seals with the nonce that is in the slot already.
    func seal(
        _ plaintext: RawSpan, key: FileKey, binding: Binding, into target: PageBuffer, at offset: Int,
        nonceAndTag slot: PageBuffer, at slotOffset: Int
    ) {
        precondition(offset >= 0 && offset <= target.count - plaintext.byteCount, "outside the buffer")
        // Within the buffer by the check above, and the buffer lives at least as long as the call.
        let output = unsafe target.base + offset
        begin(key: key, nonceIn: slot, at: slotOffset, encrypting: true)
        authenticate(binding, (0, 0), (0, 0))
        unsafe plaintext.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe context.transform(start, to: output, count: bytes.count)
        }
        finish(tagTo: slot, at: slotOffset + BlockCipher.nonceLength)
    }

    /// Decrypts a block in place.
    /// - Returns: false when it is not what was sealed with this key and binding; the range is then zero, so that
    ///   bytes that nobody vouches for go nowhere.
    public func open(
        _ buffer: PageBuffer, at offset: Int, count: Int, key: FileKey, binding: Binding, slot: PageBuffer,
        slotOffset: Int
    ) -> Bool {
        precondition(offset >= 0 && count >= 0 && offset <= buffer.count - count, "outside the buffer")
        // Within the buffer by the check above, and the buffer lives at least as long as the call.
        let bytes = unsafe buffer.base + offset
        begin(key: key, nonceIn: slot, at: slotOffset, encrypting: false)
        authenticate(binding, (0, 0), (0, 0))
        unsafe context.transform(bytes, to: bytes, count: count)
        if matches(tagIn: slot, at: slotOffset + BlockCipher.nonceLength) { return true }
        buffer.wipe(offset, count: count)
        return false
    }

    /// Authenticates two pieces of a buffer, usually what lies before and after the tag, and leaves them readable.
    ///
    /// A fresh nonce and the tag are stored at `tagAt`, 28 bytes, which neither piece may touch.
    public func authenticate(
        _ buffer: PageBuffer, ranges: (Piece, Piece), key: FileKey, binding: Binding, tagAt: Int
    ) {
        takeNonce(to: buffer, at: tagAt)
        begin(key: key, nonceIn: buffer, at: tagAt, encrypting: true)
        authenticate(binding, ranges.0, ranges.1)
        authenticate(buffer, ranges.0)
        authenticate(buffer, ranges.1)
        finish(tagTo: buffer, at: tagAt + BlockCipher.nonceLength)
    }

    /// Whether both pieces are what was authenticated with this key and binding.
    public func verify(
        _ buffer: PageBuffer, ranges: (Piece, Piece), key: FileKey, binding: Binding, tagAt: Int
    ) -> Bool {
        begin(key: key, nonceIn: buffer, at: tagAt, encrypting: false)
        authenticate(binding, ranges.0, ranges.1)
        authenticate(buffer, ranges.0)
        authenticate(buffer, ranges.1)
        return matches(tagIn: buffer, at: tagAt + BlockCipher.nonceLength)
    }

    /// 96 random bits for each block are safe for 2^32 blocks under one key (NIST SP 800-38D, 8.3): 16 TiB written
    /// to one file.
    @inline(__always)
    private func takeNonce(to slot: PageBuffer, at offset: Int) {
        if nextNonce > PageBuffer.pageSize - BlockCipher.nonceLength {
            Entropy.fill(nonces, at: 0, count: PageBuffer.pageSize)
            nextNonce = 0
        }
        slot.copy(from: nonces, at: nextNonce, count: BlockCipher.nonceLength, to: offset)
        nextNonce += BlockCipher.nonceLength
    }

    @inline(__always)
    private func begin(key: FileKey, nonceIn slot: PageBuffer, at offset: Int, encrypting: Bool) {
        precondition(offset >= 0 && offset <= slot.count - BlockCipher.slotLength, "outside the buffer")
        unsafe context.begin(key: key, nonce: slot.base + offset, encrypting: encrypting)
    }

    @inline(__always)
    private func authenticate(_ binding: Binding, _ first: Piece, _ second: Piece) {
        header.store(UInt64(binding.domain) | UInt64(binding.length) << 32, at: 0)
        header.store(binding.fileID.0, at: 8)
        header.store(binding.fileID.1, at: 16)
        header.store(binding.index, at: 24)
        // The lengths of the pieces, so that no byte can move from one to the other.
        header.store(UInt32(first.count), at: 32)
        header.store(UInt32(second.count), at: 36)
        authenticate(header, (0, BlockCipher.headerLength))
    }

    @inline(__always)
    private func authenticate(_ buffer: PageBuffer, _ piece: Piece) {
        precondition(
            piece.offset >= 0 && piece.count >= 0 && piece.offset <= buffer.count - piece.count, "outside the buffer")
        unsafe context.authenticate(buffer.base + piece.offset, count: piece.count)
    }

    // The slot's bounds were checked by `begin`.

    @inline(__always)
    private func finish(tagTo slot: PageBuffer, at offset: Int) {
        unsafe context.finish(tagTo: slot.base + offset)
    }

    @inline(__always)
    private func matches(tagIn slot: PageBuffer, at offset: Int) -> Bool {
        unsafe context.matches(tag: slot.base + offset)
    }
}
