// The layout of an encrypted file, against Format.md.

import Testing

@testable import BackingStore

@Suite("Layout of an encrypted file")
struct ContentLayoutTests {
    /// Lengths at and around every boundary: block, group, first group of a map, map.
    static let lengths: [Int64] = {
        let block: Int64 = 4096
        let group = block * 64
        let map = group * 16_384
        let edges: [Int64] = [0, block, group - block, group, 2 * group, map - group, map, map + group, 3 * map]
        return edges.flatMap { edge in [-block, -1, 0, 1, block - 1].map { edge + $0 } }.filter { $0 >= 0 }
    }()

    @Test("The length of the backing file gives the length of the content", arguments: lengths)
    func lengthRoundTrip(length: Int64) {
        let backing = ContentLayout.backingLength(of: length)
        #expect(ContentLayout.length(ofBacking: backing) == length)
    }

    @Test("Worked sizes of Format.md")
    func workedSizes() {
        #expect(ContentLayout.backingLength(of: 0) == 4096)
        #expect(ContentLayout.backingLength(of: 1) == 4097)
        #expect(ContentLayout.backingLength(of: 4096) == 8192)
        #expect(ContentLayout.backingLength(of: 262_144) == 266_240)
        // The second group lies behind the place of the first map page.
        #expect(ContentLayout.backingLength(of: 262_145) == 266_240 + 4096 + 4096 + 1)
    }

    @Test("No two pages of a file have one offset")
    func placesAreDistinct() {
        var places: Set<Int64> = []
        let groups = [0, 1, 2, 16_383, 16_384, 16_385, 32_768]
        for group in groups {
            #expect(places.insert(ContentLayout.tagPageOffset(group: group)).inserted)
            for index in [0, 1, 63] {
                let block = Int64(group) * 64 + Int64(index)
                #expect(places.insert(ContentLayout.blockOffset(block)).inserted)
            }
        }
        for map in 0...2 { #expect(places.insert(ContentLayout.mapPageOffset(map)).inserted) }
        #expect(places.allSatisfy { $0 % 4096 == 0 })
    }

    @Test("The group at an offset of the backing file", arguments: [0, 1, 2, 16_383, 16_384, 16_385, 32_768])
    func groupOfOffset(group: Int) {
        let page = ContentLayout.tagPageOffset(group: group)
        for offset in [page, page + 4095, page + 64 * 4096, page + 65 * 4096 - 1] {
            #expect(ContentLayout.group(atBackingOffset: offset) == group, "\(offset)")
        }
        let map = group / 16_384
        #expect(ContentLayout.group(atBackingOffset: ContentLayout.mapPageOffset(map)) == map * 16_384 + 1)
    }

    @Test(
        "The length of a file that ends within tags is that of the content before them",
        arguments: [0, 1, 4095] as [Int64])
    func cutWithinTags(extra: Int64) {
        // Behind group 0: the map page's place, then the tag page of group 1.
        let group = ContentLayout.backingLength(of: 262_144)
        #expect(ContentLayout.length(ofBacking: group + extra) == 262_144)
        #expect(ContentLayout.length(ofBacking: group + 4096 + extra) == 262_144)
    }
}
