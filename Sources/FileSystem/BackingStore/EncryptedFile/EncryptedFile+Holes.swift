// Holes: fallocate(2) makes and fills them, lseek(2) finds them.

import DataProtection
import Platform
public import SandboxModel

extension EncryptedFile {
    // MARK: Making holes

    /// Makes a range read as zeros.
    ///
    /// - Parameter releasing: returns the space to the host, as FALLOC_FL_PUNCH_HOLE does; otherwise the space stays
    ///   allocated, as after FALLOC_FL_ZERO_RANGE.
    /// - Throws: EIO or `refused(.dataProtection)` without a key; `corrupt` for a block at either end that does not
    ///   authenticate; errors of the host.
    public func zero(_ offset: Int64, count: Int64, releasing: Bool) throws(Fault) {
        try lock.writing { () throws(Fault) in
            try requireReading()
            try withWorkspace { workspace throws(Fault) in
                try change(workspace) { () throws(Fault) in
                    try zeroRange(offset, min(offset + count, contentLength), releasing: releasing, workspace)
                    if offset >= 0, count > 0 { endLoss(offset..<offset + count) }
                }
            }
        }
    }

    /// Makes the whole blocks of a range holes, and seals the blocks at its ends anew with zeros in them.
    private func zeroRange(
        _ offset: Int64, _ end: Int64, releasing: Bool, _ workspace: Workspace
    ) throws(Fault) {
        let size = Int64(ContentLayout.blockSize)
        guard offset < end else { return }
        let firstWhole = (offset + size - 1) / size
        // A range that reaches the end of the content has the last block whole.
        let endWhole = end == contentLength ? blockCount : end / size
        if firstWhole > endWhole || firstWhole == endWhole, offset % size != 0 || end % size != 0 {
            // No whole block: a part of one block, or the end of one and the beginning of the next.
            try zeroWithinBlock(offset..<min(end, firstWhole * size), workspace)
            if end > firstWhole * size { try zeroWithinBlock(max(offset, endWhole * size)..<end, workspace) }
            return
        }
        if offset < firstWhole * size { try zeroWithinBlock(offset..<firstWhole * size, workspace) }
        if end > endWhole * size { try zeroWithinBlock(endWhole * size..<end, workspace) }
        guard firstWhole < endWhole else { return }
        try openHeader(workspace)
        uncommitted.hasGap = true
        for group in ContentLayout.group(of: firstWhole)...ContentLayout.group(of: endWhole - 1) {
            guard let page = try tagPage(group, workspace) else { continue }
            let base = Int64(group) * Int64(ContentLayout.blocksPerGroup)
            let blocks = (firstWhole..<endWhole).clamped(to: base..<base + Int64(ContentLayout.blocksPerGroup))
            page.clear(Int(blocks.lowerBound - base)..<Int(blocks.upperBound - base))
            try writePage(page, workspace)
            // Not the last block: after a power cut its old seal may still be there, and tells the length of the
            // content.
            let released = blocks.clamped(to: 0..<blockCount - 1)
            guard releasing, !released.isEmpty else { continue }
            try punch(released)
        }
    }

    /// Returns the space of blocks of one group, which lie next to each other in the backing file.
    private func punch(_ blocks: Range<Int64>) throws(Fault) {
        let start = ContentLayout.blockOffset(blocks.lowerBound)
        let count = Int64(blocks.count) * Int64(ContentLayout.blockSize)
        let file = self.file
        try onHost { () throws(SystemError) in try file.descriptor.punchHole(start, count: count) }
        backingSpace.unreserve(start..<start + count)
    }

    /// Zeroes a part of one block. The block stays sealed, unless it is a hole already.
    private func zeroWithinBlock(_ range: Range<Int64>, _ workspace: Workspace) throws(Fault) {
        guard !range.isEmpty else { return }
        let block = ContentLayout.block(at: range.lowerBound)
        guard let page = try tagPage(ContentLayout.group(of: block), workspace) else { return }
        let start = block * Int64(ContentLayout.blockSize)
        let valid = try readBlock(block, page, workspace)
        let from = Int(range.lowerBound - start)
        let to = min(Int(range.upperBound - start), valid)
        guard from < to else { return }
        workspace.block.zero(from, count: to - from)
        workspace.block.withBytes(0, count: valid) { plaintext in
            seal(plaintext, as: block, of: page, at: 0, workspace)
        }
        try writePage(page, workspace)
        let file = self.file
        try onHost { () throws(SystemError) in
            try file.descriptor.write(from: workspace.image, count: valid, to: ContentLayout.blockOffset(block))
        }
    }

    // MARK: Allocating

    /// `fallocate(2)`: allocates space on the host for a range, tag pages included.
    ///
    /// - Parameter extending: whether the content grows to the end of the range.
    /// - Throws: EINVAL for an empty range; EFBIG behind ``ContentLayout/maximumLength``; ENOSPC; EIO or
    ///   `refused(.dataProtection)` without a key.
    public func allocate(_ offset: Int64, count: Int64, extending: Bool) throws(Fault) {
        guard offset >= 0, count > 0 else { throw .system(.invalid) }
        guard offset <= ContentLayout.maximumLength - count else { throw .system(.fileTooLarge) }
        try lock.writing { () throws(Fault) in
            try requireReading()
            let start = ContentLayout.tagPageOffset(group: ContentLayout.group(of: ContentLayout.block(at: offset)))
            let end = ContentLayout.backingLength(of: offset + count)
            let file = self.file
            let claim = try claimAllocation(offset, count: count)
            defer {
                recountSpace()
                context.space.release(claim)
            }
            try onHost { () throws(SystemError) in
                try file.descriptor.allocate(start, count: end - start, extending: false)
            }
            backingSpace.reserve(start..<end)
            guard extending, offset + count > contentLength else { return }
            try withWorkspace { workspace throws(Fault) in
                try change(workspace) { () throws(Fault) in try extend(to: offset + count, workspace) }
            }
        }
    }

    // MARK: Finding holes

    /// `lseek(2)` with SEEK_HOLE or SEEK_DATA: the next offset from `offset` on that is a hole, or that is data.
    ///
    /// - Returns: nil if there is no data from `offset` on. The end of the content counts as a hole.
    /// - Throws: EIO or `refused(.dataProtection)` without a key; `corrupt` for a tag page that does not authenticate.
    public func seek(from offset: Int64, toHole: Bool) throws(Fault) -> Int64? {
        try lock.reading { () throws(Fault) -> Int64? in
            try requireReading()
            guard offset >= 0, offset < contentLength else { return nil }
            guard mayHaveHoles else { return toHole ? contentLength : offset }
            let workspace = context.workspaces.take()
            defer {
                if isComplete { workspace.wipePlaintext() }
                context.workspaces.give(workspace)
            }
            var block = ContentLayout.block(at: offset)
            while block < blockCount {
                let group = ContentLayout.group(of: block)
                guard let page = try tagPage(group, workspace) else {
                    if toHole { return max(offset, block * Int64(ContentLayout.blockSize)) }
                    guard let next = try nextGroup(after: group, workspace) else { return nil }
                    block = Int64(next) * Int64(ContentLayout.blocksPerGroup)
                    continue
                }
                let isHole = page.current(ContentLayout.index(of: block)).length == 0
                if isHole == toHole { return max(offset, block * Int64(ContentLayout.blockSize)) }
                block += 1
            }
            return toHole ? contentLength : nil
        }
    }
}
