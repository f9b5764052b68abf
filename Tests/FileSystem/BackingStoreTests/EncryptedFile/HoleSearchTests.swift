// Searches for data and holes in files far larger than what they contain.

import TestSupport
import Testing

@testable import BackingStore

@Suite("Searches for data and holes")
struct HoleSearchTests {
    /// Blocks of data, each written whole, and the length, which is a multiple of a block.
    private struct Model {
        var data: Set<Int64> = []
        var blocks: Int64 = 0

        func next(from block: Int64, toHole: Bool) -> Int64? {
            guard block < blocks else { return nil }
            if !toHole { return data.filter { $0 >= block }.min() }
            var block = block
            while data.contains(block) { block += 1 }
            return min(block, blocks)
        }
    }

    private static let size = Int64(ContentLayout.blockSize)

    /// Places that lie about the borders of groups and of what a map covers, and others, up to 40 GiB.
    private static func place(_ chance: inout SeededGenerator) -> Int64 {
        let perGroup = Int64(ContentLayout.blocksPerGroup)
        let perMap = perGroup * Int64(ContentLayout.groupsPerMap)
        switch Int.random(in: 0..<4, using: &chance) {
        case 0:
            return max(0, Int64.random(in: 0..<10, using: &chance) * perMap + Int64.random(in: -2...2, using: &chance))
        case 1: return Int64.random(in: 0..<2000, using: &chance) * perGroup + Int64.random(in: 0...1, using: &chance)
        default: return Int64.random(in: 0..<10 * perMap, using: &chance)
        }
    }

    @Test(arguments: 1...8) func `they find what was written, before and after it is committed`(seed: Int) throws {
        var chance = SeededGenerator(seed: UInt64(seed))
        let stored = try StoredFile()
        var file = try stored.create()
        var model = Model()
        let block = [UInt8](repeating: 7, count: ContentLayout.blockSize)
        for _ in 0..<60 {
            let place = HoleSearchTests.place(&chance)
            switch Int.random(in: 0..<10, using: &chance) {
            case 0:
                try file.truncate(to: place * HoleSearchTests.size)
                model.data = model.data.filter { $0 < place }
                model.blocks = place
            case 1: try file.commit()
            case 2:
                try file.commit()
                file = try stored.open()
            default:
                try file.write(block, at: place * HoleSearchTests.size)
                model.data.insert(place)
                model.blocks = max(model.blocks, place + 1)
            }
            for _ in 0..<6 {
                let from =
                    Bool.random(using: &chance)
                    ? HoleSearchTests.place(&chance) : (model.data.randomElement(using: &chance) ?? 0)
                for toHole in [false, true] {
                    let found = try file.seek(from: from * HoleSearchTests.size, toHole: toHole)
                    #expect(found == model.next(from: from, toHole: toHole).map { $0 * HoleSearchTests.size })
                }
            }
        }
    }
}
