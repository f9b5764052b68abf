// Builds the hash tree of a file from its content.

import HashFunctions
public import Platform
public import SandboxModel

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
