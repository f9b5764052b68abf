// Reading: one pread(2) of a stretch of the backing file, decrypted in place or into the caller's memory, and lent as
// segments.

import DataProtection
public import Platform
public import SandboxModel

extension EncryptedFile {
    /// Reads up to ``Workspace/largestTransfer`` bytes and lends them to `body`, with no lock held.
    ///
    /// - Parameter memory: takes the plaintext of whole blocks, each where it belongs in the range. The caller zeroes
    ///   it, also after an error.
    /// - Throws: `corrupt` if any block of the range does not authenticate. Never a part of the range: the kernel would
    ///   show the rest as zeros. EIO for a range that was lost.
    public func read(
        count: Int, from offset: Int64, into memory: BufferRange? = nil, _ body: (ReadResult) -> Void
    ) throws(Fault) {
        let workspace = context.workspaces.take()
        defer {
            if isComplete { workspace.wipePlaintext() }
            context.workspaces.give(workspace)
        }
        try lock.reading { () throws(Fault) in
            try read(min(count, Workspace.largestTransfer), from: offset, into: memory, workspace)
        }
        body(ReadResult(workspace))
    }

    /// Reads into the workspace's image, whose parts become the segments. The caller holds the lock.
    private func read(
        _ count: Int, from offset: Int64, into memory: BufferRange?, _ workspace: Workspace
    ) throws(Fault) {
        try requireReading()
        try requireNoLoss(offset..<offset + Int64(count))
        let end = min(offset + Int64(count), contentLength)
        guard offset < end else { return }
        let size = Int64(ContentLayout.blockSize)
        let first = ContentLayout.block(at: offset)
        let last = ContentLayout.block(at: end - 1)

        // An unknown tag page right before the first block is read with it. Elsewhere the disk looks for both at once.
        let firstGroup = ContentLayout.group(of: first)
        var page = cache.page(firstGroup)
        var pageGroup = page == nil ? -1 : firstGroup
        let lacksTags = firstGroup > 0 && page == nil
        let withTags = lacksTags && ContentLayout.index(of: first) == 0
        let start =
            withTags ? ContentLayout.tagPageOffset(group: firstGroup) : ContentLayout.blockOffset(first)
        if lacksTags && !withTags {
            file.descriptor.beginReading(
                from: ContentLayout.tagPageOffset(group: firstGroup), count: ContentPage.size)
        }
        let stop = ContentLayout.blockOffset(last) + min(size, contentLength - last * size)
        workspace.imageCount = Int(stop - start)
        let got = try onHost { () throws(SystemError) in
            try file.descriptor.read(into: workspace.image, count: Int(stop - start), from: start)
        }

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
            let source = BufferRange(workspace.image, offset: place, count: max(0, got - place))
            let target =
                plaintextPlace(of: block, in: memory, from: offset) ?? BlockCipher.Place(workspace.image, place)
            if try openBlock(block, page, source, to: target, workspace) {
                workspace.append(
                    target.buffer, offset: target.offset + Int(from - block * size), count: Int(to - from))
            } else {
                workspace.appendZeros(Int(to - from))
            }
        }
    }

    /// The place of a block's plaintext in the caller's memory for a range; nil if there is no room for all of it.
    @inline(__always)
    private func plaintextPlace(of block: Int64, in memory: BufferRange?, from offset: Int64) -> BlockCipher.Place? {
        guard let memory else { return nil }
        let place = Int(block * Int64(ContentLayout.blockSize) - offset)
        guard place >= 0, place + ContentLayout.blockSize <= memory.count else { return nil }
        return BlockCipher.Place(memory.buffer, memory.offset + place)
    }

    /// Decrypts one block of the image, in place or to a place outside of it, and zeroes the bytes behind its valid
    /// ones.
    /// - Parameter source: the block, as much of it as was read.
    /// - Returns: false for a hole.
    private func openBlock(
        _ block: Int64, _ page: ContentPage?, _ source: BufferRange, to target: BlockCipher.Place,
        _ workspace: Workspace
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
        let route = BlockCipher.Route(from: BlockCipher.Place(source.buffer, source.offset), to: target)
        let opened = length <= source.count && open(block, slot, of: page, route, workspace)
        // Read by itself: its seal may cover more than the image has of it. If that does not open either, it is
        // reported.
        if !opened {
            length = try readBlock(block, page, workspace)
            target.buffer.copy(from: workspace.block, at: 0, count: length, to: target.offset)
        }
        if length < ContentLayout.blockSize {
            target.buffer.zero(target.offset + length, count: ContentLayout.blockSize - length)
        }
        return true
    }
}
