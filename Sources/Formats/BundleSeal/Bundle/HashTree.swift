// Hash trees in the form of fs-verity (Linux, Documentation/filesystems/fsverity.rst): SHA-256, blocks of 4 KiB, no
// salt.

import HashFunctions
public import Platform
public import SandboxModel

/// The layout of a file's hash tree.
///
/// Level 0 has the hashes of the content's blocks; each level above has the hashes of the blocks of the level below;
/// the highest level is one block. In the file of trees the highest level comes first.
public struct HashTreeLayout: Equatable, Sendable {
    /// Bytes of a block, of content and of the tree alike.
    public static let blockSize = 4096
    /// Bytes of a SHA-256 digest.
    static let hashLength = 32
    /// Hashes in one block of a tree.
    public static let arity = 128

    /// Bytes of the content.
    public let size: Int64
    /// The levels from the lowest: byte offset in the tree, and number of blocks. Content of at most one block has no
    /// levels.
    public let levels: [(offset: Int64, blocks: Int64)]
    /// Bytes of the tree.
    public let treeLength: Int64

    /// - Parameter size: bytes of the content.
    public init(size: Int64) {
        self.size = size
        var counts: [Int64] = []
        var blocks = HashTreeLayout.blocks(size)
        while blocks > 1 {
            blocks = HashTreeLayout.ceiling(blocks, Int64(HashTreeLayout.arity))
            counts.append(blocks)
        }
        var levels: [(offset: Int64, blocks: Int64)] = []
        var offset: Int64 = 0
        for count in counts.reversed() {
            levels.insert((offset, count), at: 0)
            offset += count * Int64(HashTreeLayout.blockSize)
        }
        self.levels = levels
        treeLength = offset
    }

    /// Blocks of the content; the last one may be partial.
    public var blocks: Int64 { HashTreeLayout.blocks(size) }

    private static func blocks(_ size: Int64) -> Int64 { ceiling(size, Int64(blockSize)) }

    private static func ceiling(_ number: Int64, _ divisor: Int64) -> Int64 {
        number / divisor + (number % divisor == 0 ? 0 : 1)
    }

    public static func == (one: HashTreeLayout, other: HashTreeLayout) -> Bool { one.size == other.size }

    /// The digest of a file, as `fsverity digest` prints it: SHA-256 of a `struct fsverity_descriptor`.
    /// - Parameter root: the hash of the highest level's block, or of the content's only block; zeros for no content.
    public static func digest(root: [UInt8], size: Int64) -> [UInt8] {
        precondition(root.count == hashLength)
        var descriptor = [UInt8](repeating: 0, count: 256)
        descriptor[0] = 1  // version
        descriptor[1] = 1  // SHA-256
        descriptor[2] = 12  // 4096 bytes
        for byte in 0..<8 { descriptor[8 + byte] = UInt8(truncatingIfNeeded: size >> (8 * Int64(byte))) }
        for (index, byte) in root.enumerated() { descriptor[16 + index] = byte }
        return HashFunction.sha256.digest(of: descriptor)
    }
}

/// Computes hash trees and writes them to a file. One thread at a time may use it.
public final class HashTreeBuilder {
    /// Bytes of content that one call of ``hashPiece(of:_:from:into:meter:)`` hashes. They fill whole blocks of the
    /// lowest level, so that threads that hash pieces of one file never write the same block.
    public static let pieceLength: Int64 = 64 << 20

    private let content = PageBuffer(count: 256 * 1024)
    /// The block of the tree that is being filled.
    private let hashes = PageBuffer(count: HashTreeLayout.blockSize)
    private var sha256 = MessageDigest(.sha256)

    public init() {}

    /// Hashes the blocks of a range of a file into the lowest level of its tree.
    ///
    /// - Parameters:
    ///   - tree: the file's tree, and its place in `trees`.
    ///   - start: a multiple of ``pieceLength``; the range ends one piece further, or with the file.
    ///   - trees: the file that the tree is written to.
    /// - Returns: for content of one block, which has no tree, the hash of that block; else nil.
    /// - Throws: EIO if the file has become shorter.
    public func hashPiece(
        of file: borrowing Descriptor, _ tree: HashTrees.File, from start: Int64, into trees: borrowing Descriptor,
        meter: WorkMeter
    ) throws(SystemError) -> [UInt8]? {
        let layout = tree.layout
        let blockSize = Int64(HashTreeLayout.blockSize)
        let end = min(start + HashTreeBuilder.pieceLength, layout.size)
        var position = start
        var filled = 0
        var target = layout.levels.first.map { tree.offset + $0.offset + start / blockSize / 128 * blockSize } ?? 0
        while position < end {
            guard !meter.isCancelled else { return nil }
            let wanted = Int(min(Int64(content.count), end - position))
            // A short read: the file was truncated.
            guard try file.read(into: content, count: wanted, from: position) == wanted else { throw .inputOutput }
            let rest = wanted % HashTreeLayout.blockSize
            if rest > 0 { content.zero(wanted, count: HashTreeLayout.blockSize - rest) }
            for offset in stride(from: 0, to: wanted, by: HashTreeLayout.blockSize) {
                sha256.update(content, at: offset, count: HashTreeLayout.blockSize)
                guard !layout.levels.isEmpty else {
                    meter.add(Int64(wanted))
                    return sha256.finish()
                }
                sha256.finish(into: hashes, at: filled * HashTreeLayout.hashLength)
                filled += 1
                if filled == HashTreeLayout.arity { try flush(&filled, to: trees, at: &target) }
            }
            position += Int64(wanted)
            meter.add(Int64(wanted))
        }
        if filled > 0 { try flush(&filled, to: trees, at: &target) }
        return nil
    }

    /// Writes the block of hashes, padded with zeros.
    private func flush(
        _ filled: inout Int, to trees: borrowing Descriptor, at target: inout Int64
    ) throws(SystemError) {
        let used = filled * HashTreeLayout.hashLength
        hashes.zero(used, count: hashes.count - used)
        try trees.write(from: hashes, count: hashes.count, to: target)
        target += Int64(hashes.count)
        filled = 0
    }

    /// Computes the higher levels of a tree whose lowest level is written.
    /// - Returns: the root hash.
    public func finish(
        _ tree: HashTrees.File, in trees: borrowing Descriptor
    ) throws(SystemError) -> [UInt8] {
        let (layout, base) = (tree.layout, tree.offset)
        precondition(!layout.levels.isEmpty)
        for level in 1..<max(1, layout.levels.count) {
            let below = layout.levels[level - 1]
            var target = base + layout.levels[level].offset
            var filled = 0
            for block in 0..<below.blocks {
                try readTree(from: trees, at: base + below.offset + block * Int64(HashTreeLayout.blockSize))
                sha256.update(content, at: 0, count: HashTreeLayout.blockSize)
                sha256.finish(into: hashes, at: filled * HashTreeLayout.hashLength)
                filled += 1
                if filled == HashTreeLayout.arity { try flush(&filled, to: trees, at: &target) }
            }
            if filled > 0 { try flush(&filled, to: trees, at: &target) }
        }
        try readTree(from: trees, at: base)
        sha256.update(content, at: 0, count: HashTreeLayout.blockSize)
        return sha256.finish()
    }

    /// Reads one block of a tree into the buffer for content.
    private func readTree(from trees: borrowing Descriptor, at offset: Int64) throws(SystemError) {
        guard try trees.read(into: content, count: HashTreeLayout.blockSize, from: offset) == HashTreeLayout.blockSize
        else { throw .inputOutput }
    }
}
