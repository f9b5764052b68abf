// Reading a file of a bundle: each block is verified with the hash tree before it is lent.

import BundleSeal
import HashFunctions
public import Platform
public import SandboxModel
import Synchronization

/// An open file of a sealed bundle.
///
/// Lock: `verified`, innermost; held while hashes are copied from the tree, not while content is read or hashed.
public final class SealedFile: Sendable {
    public let backing: SharedDescriptor
    private let inode: UInt64
    private let record: BundleDigests.File
    private let layout: HashTreeLayout
    private let trees: SharedDescriptor
    private let context: StoreContext
    private let verified: Mutex<VerifiedBlocks>

    private static let blockSize = HashTreeLayout.blockSize
    /// Offsets in `Workspace.image`, behind the largest transfer and its two partial blocks: of the hashes that the
    /// tree has, and of the one that is computed.
    private static let expected = Workspace.largestTransfer + 4 * blockSize
    private static let computed = expected + 4 * blockSize
    /// Blocks of the tree that are kept at most: 256 KiB.
    private static let mostVerified: Int64 = 64

    /// - Parameters:
    ///   - backing: the backing copy, open for reading.
    ///   - index: the index of a file in the bundle's list.
    public init(_ backing: SharedDescriptor, _ index: Int, of bundle: SealedBundle, context: StoreContext) throws(Fault)
    {
        guard case .file(let record) = bundle.digests.entries[index].content else { throw .system(.invalid) }
        self.backing = backing
        self.record = record
        self.context = context
        trees = bundle.trees
        layout = HashTreeLayout(size: record.size)
        inode = try onHost { () throws(SystemError) in try backing.descriptor.status().inode }
        verified = Mutex(
            VerifiedBlocks(capacity: Int(min(layout.treeLength / Int64(SealedFile.blockSize), SealedFile.mostVerified)))
        )
    }

    /// Bytes of the content.
    public var size: Int64 { record.size }

    /// Reads up to ``Workspace/largestTransfer`` bytes and lends them to `body`, with no lock held.
    ///
    /// - Throws: `corrupt` if any block of the range is not what was installed. Never a part of the range: the kernel
    ///   would show the rest as zeros.
    public func read(count: Int, from offset: Int64, _ body: (ReadResult) -> Void) throws(Fault) {
        try context.workspaces.with { (workspace) throws(Fault) in
            let count = min(Int64(min(count, Workspace.largestTransfer)), record.size - offset)
            guard count > 0 else { return body(ReadResult(workspace)) }
            let first = offset / Int64(SealedFile.blockSize)
            let last = (offset + count - 1) / Int64(SealedFile.blockSize)
            try load(first...last, into: workspace)
            try loadHashes(first...last, into: workspace)
            try compare(first...last, in: workspace)
            workspace.append(
                workspace.image, offset: Int(offset - first * Int64(SealedFile.blockSize)), count: Int(count))
            body(ReadResult(workspace))
        }
    }

    /// Reads blocks of content into the image, the last one filled up with zeros.
    private func load(_ blocks: ClosedRange<Int64>, into workspace: Workspace) throws(Fault) {
        let start = blocks.lowerBound * Int64(SealedFile.blockSize)
        let wanted = Int(min((blocks.upperBound + 1) * Int64(SealedFile.blockSize), record.size) - start)
        let got = try onHost { () throws(SystemError) in
            try backing.descriptor.read(into: workspace.image, count: wanted, from: start)
        }
        guard got == wanted else {
            throw corrupt(start / Int64(SealedFile.blockSize) + Int64(got / SealedFile.blockSize))
        }
        let rest = wanted % SealedFile.blockSize
        if rest > 0 { workspace.image.zero(wanted, count: SealedFile.blockSize - rest) }
    }

    /// Copies the blocks' hashes from the tree into the image, behind the content.
    private func loadHashes(_ blocks: ClosedRange<Int64>, into workspace: Workspace) throws(Fault) {
        guard !layout.levels.isEmpty else { return }
        try verified.withLock { (verified) throws(Fault) in
            var block = blocks.lowerBound
            while block <= blocks.upperBound {
                let position = Int(block % Int64(HashTreeLayout.arity))
                let count = min(HashTreeLayout.arity - position, Int(blocks.upperBound - block) + 1)
                let target = SealedFile.expected + Int(block - blocks.lowerBound) * VerifiedBlocks.hashLength
                let found = try tree(block / Int64(HashTreeLayout.arity), level: 0, &verified, workspace)
                workspace.image.copy(
                    from: verified.blocks, at: found + position * VerifiedBlocks.hashLength,
                    count: count * VerifiedBlocks.hashLength, to: target)
                block += Int64(count)
            }
        }
    }

    /// Finds or reads a block of the tree, verified up to the root, whose hash gives the file's digest.
    /// - Parameters:
    ///   - block: the number within its level.
    ///   - level: 0 for the hashes of content; the last one is the root.
    /// - Returns: its offset among the verified blocks.
    private func tree(
        _ block: Int64, level: Int, _ verified: inout VerifiedBlocks, _ workspace: Workspace
    ) throws(Fault) -> Int {
        let number = layout.levels[level].offset / Int64(SealedFile.blockSize) + block
        if let known = verified.position(of: number) { return known }
        let isTop = level == layout.levels.count - 1
        // Copied first: the way up may evict the block that has it.
        var expected: [UInt8] = []
        if !isTop {
            let parent = try tree(block / Int64(HashTreeLayout.arity), level: level + 1, &verified, workspace)
            let position = Int(block % Int64(HashTreeLayout.arity)) * VerifiedBlocks.hashLength
            expected = verified.blocks.bytes(parent + position, count: VerifiedBlocks.hashLength)
        }
        let place = verified.take(number)
        let got = try onHost { () throws(SystemError) in
            try trees.descriptor.read(
                into: verified.blocks, at: place, count: SealedFile.blockSize,
                from: record.treeOffset + number * Int64(SealedFile.blockSize))
        }
        workspace.sha256.update(verified.blocks, at: place, count: SealedFile.blockSize)
        let hash = workspace.sha256.finish()
        let isRight =
            isTop ? HashTreeLayout.digest(root: hash, size: record.size) == record.digest : hash == expected
        guard got == SealedFile.blockSize, isRight else {
            throw corrupt(block * SealedFile.span(of: level))
        }
        verified.keep(number)
        return place
    }

    /// The number of content blocks below one block of a level.
    private static func span(of level: Int) -> Int64 {
        (0...level).reduce(1) { span, _ in span * Int64(HashTreeLayout.arity) }
    }

    /// Hashes the blocks in the image and compares each with its hash from the tree.
    private func compare(_ blocks: ClosedRange<Int64>, in workspace: Workspace) throws(Fault) {
        for index in 0..<Int(blocks.count) {
            workspace.sha256.update(
                workspace.image, at: index * SealedFile.blockSize, count: SealedFile.blockSize)
            workspace.sha256.finish(into: workspace.image, at: SealedFile.computed)
            let isRight =
                layout.levels.isEmpty
                ? HashTreeLayout.digest(
                    root: workspace.image.bytes(SealedFile.computed, count: VerifiedBlocks.hashLength),
                    size: record.size) == record.digest
                : workspace.image.equals(
                    SealedFile.computed, SealedFile.expected + index * VerifiedBlocks.hashLength,
                    count: VerifiedBlocks.hashLength)
            guard isRight else { throw corrupt(blocks.lowerBound + Int64(index)) }
        }
    }

    private func corrupt(_ block: Int64) -> Fault {
        context.report(Corruption(inode: inode, place: .block(block)))
        return .corrupt
    }
}

/// Verified blocks of a file's hash tree, direct-mapped. A few suffice: each covers half a megabyte of content.
private struct VerifiedBlocks {
    static let hashLength = 32

    let blocks: PageBuffer
    private var numbers: [Int64]

    init(capacity: Int) {
        blocks = PageBuffer(count: capacity * HashTreeLayout.blockSize)
        numbers = [Int64](repeating: -1, count: capacity)
    }

    private func slot(_ number: Int64) -> Int { Int(number % Int64(numbers.count)) }

    /// The offset of a verified block; nil if it is not kept.
    func position(of number: Int64) -> Int? {
        numbers[slot(number)] == number ? slot(number) * HashTreeLayout.blockSize : nil
    }

    /// Evicts the block at the place of another. The place is empty until ``keep(_:)``.
    /// - Returns: the offset of the place.
    mutating func take(_ number: Int64) -> Int {
        numbers[slot(number)] = -1
        return slot(number) * HashTreeLayout.blockSize
    }

    mutating func keep(_ number: Int64) {
        numbers[slot(number)] = number
    }
}
