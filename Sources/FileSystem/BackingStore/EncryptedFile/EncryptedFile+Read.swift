// Reading: one pread(2) of a stretch of the backing file, decrypted in place and lent to the caller as segments.

import DataProtection
import Platform
public import SandboxModel

extension EncryptedFile {
    /// Reads up to ``Workspace/largestTransfer`` bytes and lends them to `body`, with no lock held.
    ///
    /// - Throws: `corrupt` if any block of the range does not authenticate. Never a part of the range: the kernel would
    ///   show the rest as zeros. EIO for a range that was lost.
    public func read(count: Int, from offset: Int64, _ body: (ReadResult) -> Void) throws(Fault) {
        let workspace = context.workspaces.take()
        defer {
            if isComplete { workspace.wipePlaintext() }
            context.workspaces.give(workspace)
        }
        try lock.reading { () throws(Fault) in
            try read(min(count, Workspace.largestTransfer), from: offset, workspace)
        }
        body(ReadResult(workspace))
    }

    /// Reads into the workspace's image, whose parts become the segments. The caller holds the lock.
    private func read(_ count: Int, from offset: Int64, _ workspace: Workspace) throws(Fault) {
        try requireReading()
        try requireNoLoss(offset..<offset + Int64(count))
        let end = min(offset + Int64(count), contentLength)
        guard offset < end else { return }
        let size = Int64(ContentLayout.blockSize)
        let first = ContentLayout.block(at: offset)
        let last = ContentLayout.block(at: end - 1)

        // An unknown tag page right before the first block is read with it.
        let firstGroup = ContentLayout.group(of: first)
        let withTags = firstGroup > 0 && ContentLayout.index(of: first) == 0 && cache.page(firstGroup) == nil
        let start =
            withTags ? ContentLayout.tagPageOffset(group: firstGroup) : ContentLayout.blockOffset(first)
        let stop = ContentLayout.blockOffset(last) + min(size, contentLength - last * size)
        workspace.imageCount = Int(stop - start)
        let got = try onHost { () throws(SystemError) in
            try file.descriptor.read(into: workspace.image, count: Int(stop - start), from: start)
        }

        var page: ContentPage?
        var pageGroup = -1
        // stride: a range's iterator allocates in a build without optimization.
        for block in stride(from: first, through: last, by: 1) {
            let group = ContentLayout.group(of: block)
            if group != pageGroup {
                // The tag pages of later groups lie between the blocks, and were read with them.
                let inImage = Int(ContentLayout.tagPageOffset(group: group) - start)
                let isRead = inImage >= 0 && inImage + ContentPage.size <= got
                page = try tagPage(group, image: isRead ? inImage : nil, workspace)
                pageGroup = group
            }
            let from = max(offset, block * size)
            let to = min(end, (block + 1) * size)
            let place = Int(ContentLayout.blockOffset(block) - start)
            if try openInImage(block, page, at: place, available: got - place, workspace) {
                workspace.append(workspace.image, offset: place + Int(from - block * size), count: Int(to - from))
            } else {
                workspace.appendZeros(Int(to - from))
            }
        }
    }

    /// Decrypts one block of the image in place, and zeroes the bytes behind its valid ones.
    /// - Returns: false for a hole.
    private func openInImage(
        _ block: Int64, _ page: ContentPage?, at place: Int, available: Int, _ workspace: Workspace
    ) throws(Fault) -> Bool {
        guard let page else {
            guard mayHaveHoles else { throw corrupt(.block(block)) }
            return false
        }
        let slot = page.current(ContentLayout.index(of: block))
        guard slot.length > 0 else {
            guard mayHaveHoles else { throw corrupt(.block(block)) }
            return false
        }
        var length = slot.length
        let opened =
            length <= available
            && open(block, slot, of: page, in: BlockCipher.Place(workspace.image, place), workspace)
        // Read by itself: its seal may cover more than the image has of it. If that does not open either, it is
        // reported.
        if !opened {
            length = try readBlock(block, page, workspace)
            workspace.image.copy(from: workspace.block, at: 0, count: length, to: place)
        }
        if length < ContentLayout.blockSize {
            workspace.image.zero(place + length, count: ContentLayout.blockSize - length)
        }
        return true
    }
}
