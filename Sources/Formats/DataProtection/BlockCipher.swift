// The sealing of blocks with AES-256-GCM: content is encrypted and authenticated, pages are only authenticated.

public import Platform

/// Seals and opens blocks through one libcrypto context, so that a block costs no allocation.
///
/// Not thread-safe: each workspace owns one. It holds the schedule of the last key until the next key, or ``wipe()``.
@safe public final class BlockCipher {
    public static let nonceLength = 12
    public static let tagLength = 16
    /// Bytes of a slot: the nonce, then the tag.
    public static let slotLength = nonceLength + tagLength

    /// The additional authenticated data of a block: moved to another place, file or use, it does not authenticate.
    public struct Binding: Equatable, Sendable {
        /// The use of the key; no two uses share a number.
        public var domain: UInt8
        public var fileID: (UInt64, UInt64)
        /// The number of the block or page.
        public var index: UInt64
        /// The number of valid bytes.
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

    /// A piece of a buffer, in bytes.
    public typealias Piece = (offset: Int, count: Int)

    /// An offset in a buffer, at which a block or a slot begins.
    public struct Place {
        public let buffer: PageBuffer
        public let offset: Int

        // Inlined into other modules too, as it is made for every block.
        @inlinable
        public init(_ buffer: PageBuffer, _ offset: Int) {
            self.buffer = buffer
            self.offset = offset
        }
    }

    /// The way of a block: from its ciphertext to its plaintext, which are one place or do not overlap.
    public struct Route {
        public let source: Place
        public let target: Place

        @inlinable
        public init(from source: Place, to target: Place) {
            (self.source, self.target) = (source, target)
        }
    }

    private let context = GCMContext()

    /// Random bytes of the kernel, a page at a time: one system call for 341 nonces.
    private let nonces = PageBuffer(count: PageBuffer.pageSize)
    private var nextNonce = PageBuffer.pageSize

    /// The binding as it is authenticated, 40 bytes.
    private let header = PageBuffer(count: 40)
    private static let headerLength = 40

    public init() {}

    /// Zeroes the key schedule and the remains of the last block.
    public func wipe() {
        context.wipe()
    }

    // MARK: Blocks

    /// Encrypts a block under a fresh random nonce.
    ///
    /// The ciphertext, as long as the plaintext, goes to `target`, nonce and tag to `slot`. The plaintext may lie
    /// exactly where the ciphertext goes.
    public func seal(_ plaintext: RawSpan, key: FileKey, binding: Binding, into target: Place, slot: Place) {
        takeNonce(to: slot.buffer, at: slot.offset)
        seal(plaintext, key: key, binding: binding, into: target, nonceAndTag: slot)
    }

    /// Encrypts a block under the nonce that is in the slot already.
    func seal(_ plaintext: RawSpan, key: FileKey, binding: Binding, into target: Place, nonceAndTag slot: Place) {
        precondition(
            target.offset >= 0 && target.offset <= target.buffer.count - plaintext.byteCount, "outside the buffer")
        // Within the buffer by the check above, and the buffer lives at least as long as the call.
        let output = unsafe target.buffer.base + target.offset
        begin(key: key, nonceIn: slot.buffer, at: slot.offset, encrypting: true)
        authenticate(binding, (0, 0), (0, 0))
        unsafe plaintext.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe context.transform(start, to: output, count: bytes.count)
        }
        finish(tagTo: slot.buffer, at: slot.offset + BlockCipher.nonceLength)
    }

    /// Decrypts a block.
    /// - Returns: false if it was not sealed with this key and binding. The target is then zero, so that no
    ///   unauthenticated byte leaves.
    public func open(_ route: Route, count: Int, key: FileKey, binding: Binding, slot: Place) -> Bool {
        let (source, target) = (route.source, route.target)
        precondition(
            source.offset >= 0 && count >= 0 && source.offset <= source.buffer.count - count
                && target.offset >= 0 && target.offset <= target.buffer.count - count, "outside the buffer")
        begin(key: key, nonceIn: slot.buffer, at: slot.offset, encrypting: false)
        authenticate(binding, (0, 0), (0, 0))
        // Within the buffers by the check above, and they live at least as long as the call.
        unsafe context.transform(
            source.buffer.base + source.offset, to: target.buffer.base + target.offset, count: count)
        if matches(tagIn: slot.buffer, at: slot.offset + BlockCipher.nonceLength) { return true }
        target.buffer.wipe(target.offset, count: count)
        return false
    }

    // MARK: Pages

    /// Authenticates two pieces of a buffer, usually the bytes before and after the tag, and leaves them readable.
    ///
    /// A fresh nonce and the tag are stored at `tagAt`, ``slotLength`` bytes that neither piece may touch.
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

    /// Whether both pieces are unchanged since they were authenticated with this key and binding.
    public func verify(
        _ buffer: PageBuffer, ranges: (Piece, Piece), key: FileKey, binding: Binding, tagAt: Int
    ) -> Bool {
        begin(key: key, nonceIn: buffer, at: tagAt, encrypting: false)
        authenticate(binding, ranges.0, ranges.1)
        authenticate(buffer, ranges.0)
        authenticate(buffer, ranges.1)
        return matches(tagIn: buffer, at: tagAt + BlockCipher.nonceLength)
    }

    // MARK: Steps

    /// Stores a fresh nonce. Random ones of 96 bits are good for 2^32 seals under one key (NIST SP 800-38D, 8.3): the
    /// chance that two of them are equal is then 2^-33. A small write seals a block and its tag page, two nonces, so
    /// that 8 TiB of single blocks written to one file reach the bound. Nothing counts them (ThreatModel.md).
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
        // With the lengths of the pieces, so that no byte can move from one to the other.
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
