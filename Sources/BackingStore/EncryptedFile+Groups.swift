// Which groups of a file exist, and their tag pages. The caller holds the file's lock, shared or not.

import DataProtection
import Platform
import SandboxModel

extension EncryptedFile {
    /// Whether an empty slot below the length is a hole rather than a loss.
    var mayHaveHoles: Bool { header.isSparse || hasGap }

    /// Number of blocks up to the length; the last one may be short.
    var blockCount: Int64 {
        (contentLength + Int64(ContentLayout.blockSize) - 1) / Int64(ContentLayout.blockSize)
    }

    func groupExists(_ group: Int, _ workspace: Workspace) throws(Fault) -> Bool {
        if group == 0 || addedGroups.contains(group) { return true }
        guard group <= ContentLayout.lastGroup(length: min(contentLength, header.length)) else { return false }
        guard header.isSparse else { return true }
        let map = group / ContentLayout.groupsPerMap
        guard header.hasMap(map) else { return false }
        return try mapPage(map, workspace).hasGroup(group % ContentLayout.groupsPerMap)
    }

    /// The verified tag page of a group; nil when the group is a hole.
    ///
    /// - Parameter image: where in `workspace.image` the page has been read to already.
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
        cache.insert(page)
        return page
    }

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
    /// - Parameter slots: the page that describes the block.
    /// - Returns: how many bytes of it are valid; 0 for a hole.
    func readBlock(_ block: Int64, _ page: ContentPage?, _ workspace: Workspace) throws(Fault) -> Int {
        guard let page else { return 0 }
        let index = ContentLayout.index(of: block)
        let slot = page.current(index)
        guard slot.length > 0 else { return 0 }
        let offset = ContentLayout.blockOffset(block)
        func opens(_ slot: Slot) throws(Fault) -> Bool {
            guard slot.length > 0 else { return false }
            let got = try onHost { () throws(SystemError) in
                try file.descriptor.read(into: workspace.block, count: slot.length, from: offset)
            }
            guard got == slot.length else { return false }
            return workspace.cipher.open(
                workspace.block, at: 0, count: slot.length, key: key,
                binding: binding(block: block, length: slot.length), slot: page.bytes, slotOffset: slot.offset)
        }
        if try opens(slot) { return slot.length }
        // A write that did not arrive: the block is still the one that the older seal describes.
        let previous = page.previous(index)
        if context.isUncertain(page.session), try opens(previous) { return previous.length }
        throw corrupt(.block(block))
    }

    /// Makes the current slots of a group those of the blocks that are there, after a session that ended within a
    /// write: a slot may only be given up for the next seal when the block is not the one it describes.
    func settleSlots(of page: ContentPage, _ workspace: Workspace) throws(Fault) {
        guard context.isUncertain(page.session) else { return }
        let first = Int64(page.number) * Int64(ContentLayout.blocksPerGroup)
        for index in 0..<ContentLayout.blocksPerGroup {
            let block = first + Int64(index)
            let previous = page.previous(index)
            guard block < blockCount, page.current(index).length > 0, previous.length > 0 else { continue }
            let offset = ContentLayout.blockOffset(block)
            func opens(_ slot: Slot) throws(Fault) -> Bool {
                let got = try onHost { () throws(SystemError) in
                    try file.descriptor.read(into: workspace.block, count: slot.length, from: offset)
                }
                return got == slot.length
                    && workspace.cipher.open(
                        workspace.block, at: 0, count: slot.length, key: key,
                        binding: binding(block: block, length: slot.length), slot: page.bytes,
                        slotOffset: slot.offset)
            }
            if try !opens(page.current(index)), try opens(previous) { page.flip(index) }
        }
    }
}
