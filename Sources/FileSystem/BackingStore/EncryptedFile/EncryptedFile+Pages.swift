// Reading, verifying and sealing the pages and blocks of a file. The caller holds the file's lock, shared or
// exclusively.

import DataProtection
import Platform
import SandboxModel

extension EncryptedFile {
    // MARK: Groups

    /// Whether an empty slot below the length is a hole, not a loss.
    var mayHaveHoles: Bool { header.isSparse || uncommitted.hasGap }

    /// The number of blocks up to the length; the last one may be short.
    var blockCount: Int64 {
        (contentLength + Int64(ContentLayout.blockSize) - 1) / Int64(ContentLayout.blockSize)
    }

    /// Whether a group has a tag page. Otherwise all its blocks are holes.
    func groupExists(_ group: Int, _ workspace: Workspace) throws(Fault) -> Bool {
        if group == 0 || uncommitted.addedGroups.contains(group) { return true }
        guard group <= ContentLayout.lastGroup(length: min(contentLength, header.length)) else { return false }
        guard header.isSparse else { return true }
        let (map, index) = group.quotientAndRemainder(dividingBy: ContentLayout.groupsPerMap)
        // The map lies behind its first group, so the file may end before the map: that group always exists.
        if index == 0 { return true }
        guard header.hasMap(map) else { return false }
        return try mapPage(map, workspace).hasGroup(index)
    }

    /// The next group that has a tag page; nil if there is none below the length.
    func nextGroup(after group: Int, _ workspace: Workspace) throws(Fault) -> Int? {
        let last = ContentLayout.lastGroup(length: contentLength)
        var next = try candidate(after: group, workspace)
        while next <= last {
            if try groupExists(next, workspace) { return next }
            next = try candidate(after: next, workspace)
        }
        return nil
    }

    /// The next group that may exist, whatever lies between: an added one, one that a map names, the first of a map.
    private func candidate(after group: Int, _ workspace: Workspace) throws(Fault) -> Int {
        var next = Int.max
        if group < ContentLayout.lastGroup(length: min(contentLength, header.length)) {
            guard header.isSparse else { return group + 1 }
            let (map, index) = group.quotientAndRemainder(dividingBy: ContentLayout.groupsPerMap)
            next = (map + 1) * ContentLayout.groupsPerMap
            if header.hasMap(map), let named = try mapPage(map, workspace).firstGroup(from: index + 1) {
                next = map * ContentLayout.groupsPerMap + named
            }
        }
        for added in uncommitted.addedGroups where added > group { next = min(next, added) }
        return next
    }

    /// Whether none of a map's groups exists but the first, which lies before the map.
    func isUnused(map: Int) -> Bool {
        guard header.isSparse, !header.hasMap(map) else { return false }
        let first = map * ContentLayout.groupsPerMap
        return !uncommitted.addedGroups.contains { $0 > first && $0 < first + ContentLayout.groupsPerMap }
    }

    /// The verified tag page of a group; nil for a group that is a hole.
    ///
    /// - Parameter image: offset in `workspace.image` to which the page has been read already.
    func tagPage(_ group: Int, image: Int? = nil, _ workspace: Workspace) throws(Fault) -> ContentPage? {
        if group == 0 { return header }
        if let page = cache.page(group) { return page }
        guard try groupExists(group, workspace) else { return nil }
        let page = cache.blank(for: group)
        if let image {
            page.bytes.copy(from: workspace.image, at: image, count: ContentPage.size, to: 0)
        } else {
            let offset = ContentLayout.tagPageOffset(group: group)
            let file = self.file
            let got = try onHost { () throws(SystemError) in
                try file.descriptor.read(into: page.bytes, count: ContentPage.size, from: offset)
            }
            guard got == ContentPage.size else { throw corrupt(.group(group)) }
        }
        page.name(group)
        guard page.isWellFormed(.tags), authenticates(page, workspace) else { throw corrupt(.group(group)) }
        try resolveSlots(of: page, workspace)
        cache.insert(page)
        return page
    }

    /// As ``tagPage(_:image:_:)``; nil also if the page does not authenticate: every block of the group is lost with
    /// it.
    func tagPageUnlessLost(_ group: Int, _ workspace: Workspace) throws(Fault) -> ContentPage? {
        do throws(Fault) {
            return try tagPage(group, workspace)
        } catch {
            guard error == .corrupt else { throw error }
            return nil
        }
    }

    /// The tag page of a group for a change: an empty one for a group that is a hole, or was lost with the power.
    func pageForChange(_ group: Int, _ workspace: Workspace) throws(Fault) -> ContentPage {
        do throws(Fault) {
            if let page = try tagPage(group, workspace) { return page }
        } catch {
            guard error == .corrupt, try isLost(group) else { throw error }
        }
        let page = cache.blank(for: group)
        page.reset(.tags, number: group)
        cache.insert(page)
        uncommitted.addedGroups.insert(group)
        return page
    }

    /// The verified page of a map that the header names.
    /// - Throws: `corrupt` if it is missing or does not authenticate.
    func mapPage(_ map: Int, _ workspace: Workspace) throws(Fault) -> ContentPage {
        if let page = maps.page(map) { return page }
        let page = maps.blank(for: map)
        let file = self.file
        let got = try onHost { () throws(SystemError) in
            try file.descriptor.read(
                into: page.bytes, count: ContentPage.size, from: ContentLayout.mapPageOffset(map))
        }
        page.name(map)
        guard got == ContentPage.size, page.isWellFormed(.map), authenticates(page, workspace) else {
            throw corrupt(.header)
        }
        maps.insert(page)
        return page
    }

    // MARK: Blocks

    /// Reads one block's plaintext into `workspace.block`.
    ///
    /// - Parameter page: the tag page of its group; nil for a group that is a hole.
    /// - Returns: the number of valid bytes; 0 for a hole.
    func readBlock(_ block: Int64, _ page: ContentPage?, _ workspace: Workspace) throws(Fault) -> Int {
        guard let page else { return 0 }
        let slot = page.current(ContentLayout.index(of: block))
        guard slot.length > 0 else { return 0 }
        guard try loadBlock(block, slot, of: page, workspace) else {
            // A refused block was never written: EIO, but no corruption.
            if page.isRefused(ContentLayout.index(of: block)) { throw .system(.inputOutput) }
            throw corrupt(.block(block))
        }
        return slot.length
    }

    /// Reads a block into `workspace.block` and opens it with one of its slots.
    /// - Returns: false if it does not authenticate with that slot.
    func loadBlock(
        _ block: Int64, _ slot: Slot, of page: ContentPage, _ workspace: Workspace
    ) throws(Fault) -> Bool {
        let file = self.file
        let got = try onHost { () throws(SystemError) in
            try file.descriptor.read(into: workspace.block, count: slot.length, from: ContentLayout.blockOffset(block))
        }
        let place = BlockCipher.Place(workspace.block, 0)
        let route = BlockCipher.Route(from: place, to: place)
        return got == slot.length
            && open(block, slot, of: page, route, workspace)
    }

    /// Decrypts a block.
    /// - Returns: false if it does not authenticate; the target is then zero.
    @inline(__always)
    func open(
        _ block: Int64, _ slot: Slot, of page: ContentPage, _ route: BlockCipher.Route, _ workspace: Workspace
    ) -> Bool {
        workspace.cipher.open(
            route, count: slot.length, key: key, binding: binding(block: block, length: slot.length),
            slot: BlockCipher.Place(page.bytes, slot.offset))
    }

    /// Seals a block's plaintext to an offset in `workspace.image`. Nonce and tag go to the block's older slot in the
    /// page, which becomes the current one.
    @inline(__always)
    func seal(
        _ plaintext: RawSpan, as block: Int64, of page: ContentPage, at place: Int, _ workspace: Workspace
    ) {
        let length = plaintext.byteCount
        let slot = page.advance(ContentLayout.index(of: block), length: length)
        workspace.cipher.seal(
            plaintext, key: key, binding: binding(block: block, length: length),
            into: BlockCipher.Place(workspace.image, place), slot: BlockCipher.Place(page.bytes, slot.offset))
    }

    // MARK: Seals

    /// Whether the page's own seal holds under the file's key.
    func authenticates(_ page: ContentPage, _ workspace: Workspace) -> Bool {
        workspace.cipher.verify(
            page.bytes, ranges: ContentPage.sealedRanges, key: key, binding: binding(page),
            tagAt: ContentPage.sealOffset)
    }

    /// Stamps a page with the session and seals it, ready to be written.
    func seal(_ page: ContentPage, _ workspace: Workspace) {
        page.session = context.history.current
        workspace.cipher.authenticate(
            page.bytes, ranges: ContentPage.sealedRanges, key: key, binding: binding(page),
            tagAt: ContentPage.sealOffset)
    }

    /// Seals the header or a tag page and writes it to its place.
    func writePage(_ page: ContentPage, _ workspace: Workspace) throws(Fault) {
        seal(page, workspace)
        let offset = ContentLayout.tagPageOffset(group: page.number)
        try onHost { () throws(SystemError) in
            try file.descriptor.write(from: page.bytes, count: ContentPage.size, to: offset)
        }
    }

    private func binding(_ page: ContentPage) -> BlockCipher.Binding {
        BlockCipher.Binding(
            domain: Domain.page, fileID: (identity.high, identity.low), index: UInt64(page.number),
            length: UInt32(ContentPage.size))
    }

    @inline(__always)
    func binding(block: Int64, length: Int) -> BlockCipher.Binding {
        BlockCipher.Binding(
            domain: Domain.block, fileID: (identity.high, identity.low), index: UInt64(block), length: UInt32(length))
    }

    /// The purpose of a seal, so that none passes for one of another kind. The kind of a page is among its sealed
    /// bytes.
    private enum Domain {
        static let block: UInt8 = 1
        static let page: UInt8 = 2
    }
}
