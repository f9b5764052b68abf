// Hash trees in the form of fs-verity (Linux, Documentation/filesystems/fsverity.rst): SHA-256, blocks of 4 KiB, no
// salt.

import HashFunctions

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
