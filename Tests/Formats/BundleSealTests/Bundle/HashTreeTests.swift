// Hash trees, compared with those of the tool fsverity.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct HashTreeTests {
    private static let block: Int64 = 4096
    private static let piece = HashTreeBuilder.pieceLength

    private static let sizes: [Int64] = [
        0, 1, block - 1, block, block + 1, 2 * block, 128 * block - 1, 128 * block, 128 * block + 1, 129 * block,
        piece - 1, piece, piece + 1, 70 << 20,
    ]

    /// The trees of some files, one after the other in one file.
    private func build(
        _ app: SampleApp, _ progress: (Int64) -> Bool = { _ in true }
    ) throws -> (trees: HashTrees, digests: [[UInt8]]?, file: String) {
        let trees = HashTrees(of: try BundleTree(of: app.root))
        let path = app.scratch["trees"]
        let file = SharedDescriptor(try Descriptor.open(path: path, flags: O_RDWR | O_CREAT | O_TRUNC, mode: 0o600))
        var verification: SealVerification?
        return (trees, try trees.build(into: file, verifying: &verification, progress: progress), path)
    }

    @Test func `digests and trees are those of fs-verity`() throws {
        let app = try SampleApp()
        for size in Self.sizes {
            // Sparse, with data at the ends.
            let file = try app.root.descriptor.open(
                FileName("\(size)")!, flags: O_RDWR | O_CREAT, mode: 0o644)
            try file.truncate(to: size)
            let buffer = PageBuffer(count: 1)
            buffer.copy([UInt8(truncatingIfNeeded: size | 1)], to: 0)
            for place in [0, 4096, 128 * 4096, size / 2, size - 1] as [Int64] where place >= 0 && place < size {
                try file.write(from: buffer, count: 1, to: place)
            }
        }
        let (trees, digests, file) = try build(app)
        #expect(trees.bytes == Self.sizes.reduce(0, +))
        let built = try #require(digests)
        for (number, tree) in trees.files.enumerated() {
            let entry = trees.tree.entries[tree.entry]
            let name = entry.path.text
            let layout = HashTreeLayout(size: entry.status.size)
            // The tool writes no tree of a file of one block.
            let output = try shell(
                "fsverity digest --compact --out-merkle-tree='\(app.scratch["tree"])' '\(app.path)/\(name)'")
            #expect(output == "\(built[number].hexadecimal)\n", "\(name) bytes")
            let theirs = try Data(contentsOf: URL(filePath: app.scratch["tree"]))
            #expect(layout.treeLength == Int64(theirs.count), "\(name) bytes")
            let handle = try FileHandle(forReadingFrom: URL(filePath: file))
            try handle.seek(toOffset: UInt64(tree.offset))
            #expect(try handle.read(upToCount: theirs.count) ?? Data() == theirs, "\(name) bytes")
        }
    }

    private static let levels: [(size: Int64, blocks: [Int64])] = [
        (0, []), (4096, []), (4097, [1]), (128 * 4096, [1]), (128 * 4096 + 1, [2, 1]),
        (128 * 128 * 4096 + 1, [129, 2, 1]),
    ]

    @Test(arguments: levels)
    func `a level has a block for 128 of the one below`(size: Int64, blocks: [Int64]) {
        let layout = HashTreeLayout(size: size)
        #expect(layout.levels.map(\.blocks) == blocks)
        #expect(layout.treeLength == blocks.reduce(0, +) * 4096)
        // The highest level comes first.
        #expect(layout.levels.last?.offset ?? 0 == 0)
    }

    @Test func `a layout holds for any size that there is`() {
        for size in [1 << 40, Int64.max - 4096, .max] {
            let layout = HashTreeLayout(size: size)
            #expect(layout.levels.last?.blocks == 1)
            #expect(layout.treeLength > 0 && layout.treeLength < size / 100)
        }
    }

    @Test func `a computation can be given up`() throws {
        let app = try SampleApp.whole()
        #expect(try build(app) { _ in false }.digests == nil)
        let (trees, digests, _) = try build(app)
        #expect(digests?.count == trees.files.count)
    }

    @Test func `a file that became shorter is an error, not another file`() throws {
        let app = try SampleApp.whole()
        let trees = HashTrees(of: try BundleTree(of: app.root))
        try app.write("Assets/deep/er/a.bin", "short")
        let file = SharedDescriptor(
            try Descriptor.open(path: app.scratch["trees"], flags: O_RDWR | O_CREAT, mode: 0o600))
        var verification: SealVerification?
        #expect(throws: SystemError.inputOutput) { try trees.build(into: file, verifying: &verification) { _ in true } }
    }

    @Test func `a verification is finished with the trees`() throws {
        let app = try SampleApp.whole().seal()
        try app.flip("readme.txt", at: 0)
        try app.flip("Frameworks/Kit.framework/Kit", at: 0)
        var verification: SealVerification? = try SealVerification(of: app.root, name: SampleApp.name, trust: nil)
        let trees = HashTrees(of: verification!.tree)
        let file = SharedDescriptor(
            try Descriptor.open(path: app.scratch["trees"], flags: O_RDWR | O_CREAT, mode: 0o600))
        #expect(try trees.build(into: file, verifying: &verification) { _ in true } != nil)
        #expect(
            verification?.report.breaks
                == [SealBreak(.changed, "Frameworks/Kit.framework/Kit"), SealBreak(.changed, "readme.txt")])
    }
}
