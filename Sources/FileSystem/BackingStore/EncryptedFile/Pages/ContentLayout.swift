// The layout of an encrypted file: offsets of blocks and pages in the backing file. Pure arithmetic, after Format.md.

/// The geometry of an encrypted file.
///
/// Content is cut into blocks, 64 blocks to a group; before each group lies its tag page. A map page, which only a
/// sparse file writes, lies behind the first of each 16,384 groups. Blocks and pages are aligned to 4 KiB, so that a
/// process killed inside a write leaves each of them old or new. The last block is as short as the content, so that
/// `stat` on the backing file tells the length.
public enum ContentLayout {
    /// Bytes of a block of content, by the format. `PageBuffer.pageSize` (memory) and `HashTreeLayout.blockSize`
    /// (fs-verity) merely equal it.
    public static let blockSize = 4096
    /// Bytes of a tag page or map page. The format counts blocks and pages in one unit, so this is ``blockSize``.
    static let pageSize = blockSize
    public static let blocksPerGroup = 64
    /// Bytes of content in a group.
    static let groupSize = Int64(blockSize * blocksPerGroup)
    /// Groups that one map covers.
    static let groupsPerMap = 16_384
    /// Maps that a header can name.
    static let maximumMaps = 512
    /// The longest content, in bytes: 2 TiB.
    public static let maximumLength = Int64(maximumMaps) * Int64(groupsPerMap) * groupSize

    private static let pagesPerGroup = Int64(blocksPerGroup + 1)
    /// Pages of the groups that one map covers, the map page included.
    private static let pagesPerMap = Int64(groupsPerMap) * pagesPerGroup + 1

    /// Offset in the backing file of a group's tag page.
    static func tagPageOffset(group: Int) -> Int64 {
        let (map, within) = group.quotientAndRemainder(dividingBy: groupsPerMap)
        let page = Int64(map) * pagesPerMap + Int64(within) * pagesPerGroup + (within > 0 ? 1 : 0)
        return page * Int64(pageSize)
    }

    /// Offset in the backing file of a block of content.
    static func blockOffset(_ block: Int64) -> Int64 {
        tagPageOffset(group: group(of: block)) + Int64(1 + index(of: block)) * Int64(pageSize)
    }

    /// The group at an offset in the backing file. A map page belongs to the group behind it.
    static func group(atBackingOffset offset: Int64) -> Int {
        let page = Int64(pageSize)
        let (map, rest) = offset.quotientAndRemainder(dividingBy: pagesPerMap * page)
        let firstGroup = pagesPerGroup * page
        let within = rest < firstGroup ? 0 : 1 + max(0, rest - firstGroup - page) / firstGroup
        return Int(map) * groupsPerMap + Int(within)
    }

    /// Offset in the backing file of a map page.
    static func mapPageOffset(_ map: Int) -> Int64 {
        (Int64(map) * pagesPerMap + pagesPerGroup) * Int64(pageSize)
    }

    static func group(of block: Int64) -> Int { Int(block / Int64(blocksPerGroup)) }

    /// The index of a block in its group.
    static func index(of block: Int64) -> Int { Int(block % Int64(blocksPerGroup)) }

    static func block(at offset: Int64) -> Int64 { offset / Int64(blockSize) }

    /// The group of the last byte of a content of this length; 0 for an empty one.
    static func lastGroup(length: Int64) -> Int {
        length == 0 ? 0 : group(of: block(at: length - 1))
    }

    /// Length of the backing file of a content of this length. That of an empty file is the header.
    public static func backingLength(of length: Int64) -> Int64 {
        guard length > 0 else { return Int64(pageSize) }
        let last = block(at: length - 1)
        return blockOffset(last) + (length - last * Int64(blockSize))
    }

    /// Length of the content of a backing file of this length: the inverse of ``backingLength(of:)``. A backing file
    /// that ends within a tag or map page has the content before that page.
    public static func length(ofBacking backing: Int64) -> Int64 {
        let page = Int64(pageSize)
        let (map, rest) = backing.quotientAndRemainder(dividingBy: pagesPerMap * page)
        let before = map * Int64(groupsPerMap) * groupSize
        let firstGroup = pagesPerGroup * page
        if rest <= firstGroup { return before + max(0, rest - page) }
        let (group, inGroup) = max(0, rest - firstGroup - page).quotientAndRemainder(dividingBy: firstGroup)
        return before + (1 + group) * groupSize + max(0, inGroup - page)
    }
}
