// Groups and maps of files with holes.

import Platform
import SandboxModel
import Testing

@testable import BackingStore

@Suite("Groups and maps", .serialized)
struct EncryptedFileGroupTests {
    private let group = ContentLayout.groupSize
    /// The first group behind the first map's: its own map lies behind it.
    private let secondMap = Int64(ContentLayout.groupsPerMap) * ContentLayout.groupSize

    @Test("Content that was cut off is a hole when the file grows again, however many groups it had")
    func truncatedGroupsAreForgotten() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        for index in 0..<80 { try file.write([1, 2, 3], at: Int64(index) * group) }
        try file.truncate(to: 10)
        try file.truncate(to: 80 * group)
        for index in 1..<80 {
            let bytes = try file.readAll(from: Int64(index) * group, count: 4)
            #expect(bytes == [0, 0, 0, 0], "group \(index)")
        }
        #expect(stored.reports.all.isEmpty)
    }

    @Test("A file with holes may end in the first group that a map covers", arguments: [1, 5000, 262_144])
    func endsBeforeItsMap(count: Int) throws {
        let stored = try StoredFile()
        let file = try stored.create()
        let content = [UInt8](repeating: 7, count: count)
        try file.write([1], at: 0)
        try file.write(content, at: secondMap)
        try file.commit()
        #expect(try file.backing.descriptor.status().size == ContentLayout.backingLength(of: secondMap + Int64(count)))
        let again = try stored.open()
        #expect(again.length == secondMap + Int64(count))
        #expect(try again.readAll(from: secondMap, count: count) == content)
    }

    @Test("A file with holes cut back to the first group that a map covers keeps it")
    func cutBackToBeforeItsMap() throws {
        let stored = try StoredFile()
        var file = try stored.create()
        try file.write([1], at: 0)
        try file.write([2, 3], at: secondMap)
        try file.write([4], at: secondMap + 3 * group)
        try file.commit()
        file = try stored.open()
        try file.truncate(to: secondMap + 2)
        try file.commit()
        file = try stored.open()
        #expect(try file.readAll(from: secondMap, count: 2) == [2, 3])
        try file.truncate(to: secondMap + 3 * group + 1)
        try file.commit()
        file = try stored.open()
        #expect(try file.readAll(from: secondMap, count: 2) == [2, 3])
        #expect(try file.readAll(from: secondMap + 3 * group, count: 1) == [0])
    }

    @Test("A hole in the first group that a map covers is one after closing, too")
    func holeBeforeAMap() throws {
        let stored = try StoredFile()
        var file = try stored.create()
        try file.truncate(to: secondMap + 100)
        try file.commit()
        file = try stored.open()
        #expect(file.length == secondMap + 100)
        #expect(try file.readAll(from: secondMap, count: 100) == [UInt8](repeating: 0, count: 100))
        try file.write([9], at: secondMap + 5 * group)
        try file.commit()
        file = try stored.open()
        #expect(try file.readAll(from: secondMap + 5 * group, count: 1) == [9])
        #expect(try file.readAll(from: secondMap, count: 100) == [UInt8](repeating: 0, count: 100))
    }

    @Test("After a kill all written groups are found, however far apart, and no others")
    func groupsFoundAfterAKill() throws {
        let stored = try StoredFile()
        let file = try stored.create()
        // In the middle of blocks and at their edges, in groups that follow each other and in lone ones, by each map.
        let groups = [0, 1, 2, 5, 16_382, 16_383, 16_384, 16_385, 16_386, 100_000, 1_000_000, 4_194_303]
        for place in groups {
            try file.write([UInt8(truncatingIfNeeded: place), 1], at: Int64(place) * group + Int64(place % 2) * 70_000)
        }
        stored.kill()
        let again = try stored.open()
        #expect(again.length == 4_194_303 * group + 70_002)
        for place in groups {
            let bytes = try again.readAll(from: Int64(place) * group + Int64(place % 2) * 70_000, count: 3)
            #expect(bytes.prefix(2) == [UInt8(truncatingIfNeeded: place), 1], "group \(place)")
        }
        for place in [3, 4, 6, 16_381, 16_387, 99_999, 100_001, 4_194_302] {
            #expect(try again.readAll(from: Int64(place) * group + 70_000, count: 2) == [0, 0], "group \(place)")
        }
        #expect(stored.reports.all.isEmpty)
    }
}
