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
        let (map, index) = group.quotientAndRemainder(dividingBy: ContentLayout.groupsPerMap)
        // The map lies behind its first group, so the content may end before it: that group is always there.
        if index == 0 { return true }
        guard header.hasMap(map) else { return false }
        return try mapPage(map, workspace).hasGroup(index)
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
        try resolveSlots(of: page, workspace)
        cache.insert(page)
        return page
    }

    /// As ``tagPage(_:image:_:)``; nil as well where the page is lost, and with it every block of the group.
    func tagPageUnlessLost(_ group: Int, _ workspace: Workspace) throws(Fault) -> ContentPage? {
        do throws(Fault) {
            return try tagPage(group, workspace)
        } catch {
            guard error == .corrupt else { throw error }
            return nil
        }
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
    /// - Parameter page: the page that describes the block; nil for a group that is a hole.
    /// - Returns: how many bytes of it are valid; 0 for a hole.
    func readBlock(_ block: Int64, _ page: ContentPage?, _ workspace: Workspace) throws(Fault) -> Int {
        guard let page else { return 0 }
        let slot = page.current(ContentLayout.index(of: block))
        guard slot.length > 0 else { return 0 }
        guard try opens(block, with: slot, of: page, workspace) else {
            // What was refused never was there, and nobody has touched it.
            if page.isRefused(ContentLayout.index(of: block)) { throw .system(.inputOutput) }
            throw corrupt(.block(block))
        }
        return slot.length
    }

    private func opens(
        _ block: Int64, with slot: Slot, of page: ContentPage, _ workspace: Workspace
    ) throws(Fault) -> Bool {
        let file = self.file
        let got = try onHost { () throws(SystemError) in
            try file.descriptor.read(into: workspace.block, count: slot.length, from: ContentLayout.blockOffset(block))
        }
        return got == slot.length
            && workspace.cipher.open(
                workspace.block, at: 0, count: slot.length, key: key,
                binding: binding(block: block, length: slot.length), slot: page.bytes, slotOffset: slot.offset)
    }

    /// After a session that ended within a write, makes the current slots of a page those of the blocks that are
    /// there. It must be done before the page is sealed again, because its next seal says that it is certain.
    func resolveSlots(of page: ContentPage, _ workspace: Workspace) throws(Fault) {
        guard context.isUncertain(page.session) else { return }
        for index in 0..<ContentLayout.blocksPerGroup {
            let current = page.current(index)
            let previous = page.previous(index)
            guard current.length > 0, previous.length > 0 else { continue }
            let block = Int64(page.number) * Int64(ContentLayout.blocksPerGroup) + Int64(index)
            if try !opens(block, with: current, of: page, workspace),
                try opens(block, with: previous, of: page, workspace)
            {
                page.turnBack(index)
            }
        }
    }
}
