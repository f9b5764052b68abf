// Length and holes: truncation, holes made and found, and what a file's header says when it is done.
//
// A shrinking file is ordered so that a process killed at any instant leaves a header from which ``recoverLength(backingLength:_:)`` finishes
// the work: header, tags, the last block, the length of the backing file.

import DataProtection
import Platform
public import SandboxModel

extension EncryptedFile {
    /// Changes the length of the content; what is added reads as zeros.
    public func truncate(to newLength: Int64) throws(Fault) {
        guard newLength >= 0 else { throw .system(.invalid) }
        guard newLength <= ContentLayout.maximumLength else { throw .system(.fileTooLarge) }
        try lock.writing { () throws(Fault) in
            try requireReading()
            try withWorkspace { workspace throws(Fault) in
                try change(workspace) { () throws(Fault) in
                    endLoss(newLength..<Int64.max)
                    if newLength < contentLength {
                        try shrink(to: newLength, workspace)
                    } else if newLength > contentLength {
                        try extend(to: newLength, workspace)
                    }
                }
            }
        }
    }

    /// Has the header say how long the content is, before that is promised to be durable, where no seal does: a block
    /// that is written at the end afterwards, and lost with the host's power, is otherwise taken for one that was appended.
    func announceUnsealedEnd() throws(Fault) {
        let mayEndSo = lock.reading { header.isOpen && (hasGap || wasExtended) && isWritable && heldKey != nil }
        guard mayEndSo else { return }
        try lock.writing { () throws(Fault) in
            try withWorkspace { workspace throws(Fault) in
                guard header.isOpen, heldKey != nil, try endsUnsealed(workspace) else { return }
                try change(workspace) { () throws(Fault) in try commitStructure(workspace) }
            }
        }
    }

    /// Whether the content ends in a hole, or in zeros behind what the last block's seal covers: ftruncate(2) and
    /// fallocate(2) have it end anywhere.
    func endsUnsealed(_ workspace: Workspace) throws(Fault) -> Bool {
        guard contentLength > 0 else { return false }
        let last = ContentLayout.block(at: contentLength - 1)
        guard let page = try tagPageUnlessLost(ContentLayout.group(of: last), workspace) else { return true }
        let tail = contentLength - last * Int64(ContentLayout.blockSize)
        return page.current(ContentLayout.index(of: last)).length < tail
    }

    /// Runs a change of the structure; when it fails halfway, finds out what is so now.
    private func change(_ workspace: Workspace, _ body: () throws(Fault) -> Void) throws(Fault) {
        defer { recountSpace() }
        do throws(Fault) {
            try body()
        } catch {
            reload(after: error, workspace)
            throw error
        }
    }

    private func extend(to newLength: Int64, _ workspace: Workspace) throws(Fault) {
        try openHeader(workspace)
        let file = self.file
        try onHost { () throws(SystemError) in
            try file.descriptor.truncate(to: ContentLayout.backingLength(of: newLength))
        }
        let newBlocks = (newLength + Int64(ContentLayout.blockSize) - 1) / Int64(ContentLayout.blockSize)
        hasGap = hasGap || newBlocks > blockCount
        wasExtended = true
        contentLength = newLength
    }

    /// - Parameter finishing: whether a truncation is finished that was under way when the host stopped. Its last block
    ///   or group may then be lost, which must not take the rest of the file along.
    func shrink(to newLength: Int64, finishing: Bool = false, _ workspace: Workspace) throws(Fault) {
        // A truncation announces itself by a closed header: what was open is said first.
        if header.isOpen { try commitStructure(workspace) }
        let size = Int64(ContentLayout.blockSize)
        let lastGroup = ContentLayout.lastGroup(length: newLength)
        let keptBlocks = (newLength + size - 1) / size
        let page = finishing ? try tagPageUnlessLost(lastGroup, workspace) : try tagPage(lastGroup, workspace)

        // The last block ends where the content ends.
        let lastBlock = keptBlocks - 1
        let tail = Int(newLength - max(lastBlock, 0) * size)
        var tailLength = 0
        if let page, keptBlocks > 0, page.current(ContentLayout.index(of: lastBlock)).length > tail {
            do throws(Fault) {
                _ = try readBlock(lastBlock, page, workspace)
                tailLength = tail
            } catch {
                guard finishing, error == .corrupt else { throw error }
            }
        }

        // Said as final: should the process end now, the next to open the file finishes the truncation.
        header.length = newLength
        if let page {
            if tailLength > 0 {
                let slot = page.advance(ContentLayout.index(of: lastBlock), length: tailLength)
                workspace.block.withBytes(0, count: tailLength) { plaintext in
                    workspace.cipher.seal(
                        plaintext, key: key, binding: binding(block: lastBlock, length: tailLength),
                        into: workspace.image, at: 0, slot: page.bytes, slotOffset: slot.offset)
                }
            }
            let kept = Int(keptBlocks - Int64(lastGroup) * Int64(ContentLayout.blocksPerGroup))
            page.clear(max(kept, 0)..<ContentLayout.blocksPerGroup)
        }
        let oldLastGroup = ContentLayout.lastGroup(length: contentLength)
        dropGroups(after: lastGroup, through: oldLastGroup)
        try writePage(header, workspace)
        if let page, lastGroup > 0 { try writePage(page, workspace) }
        let file = self.file
        try onHost { () throws(SystemError) in
            if tailLength > 0 {
                try file.descriptor.write(
                    from: workspace.image, count: tailLength, to: ContentLayout.blockOffset(lastBlock))
            }
            try file.descriptor.truncate(to: ContentLayout.backingLength(of: newLength))
        }
        reserved.remove(contentsOf: ContentLayout.backingLength(of: newLength)..<Int64.max)
        contentLength = newLength
    }

    /// Groups behind the new end are to go: nothing may name them any more. The map that covers the new end goes on
    /// naming them, which counts for nothing behind the header's length; it is put right when the content grows.
    func dropGroups(after last: Int, through oldLast: Int) {
        guard oldLast > last else { return }
        cache.remove(after: last)
        addedGroups = addedGroups.filter { $0 <= last }
        guard header.isSparse else { return }
        // A map lies behind the first group that it covers.
        let kept = (last + ContentLayout.groupsPerMap - 1) / ContentLayout.groupsPerMap
        maps.remove(after: kept - 1)
        for map in kept..<max(oldLast / ContentLayout.groupsPerMap + 1, kept) { header.setMap(map, false) }
    }

    // MARK: Holes

    /// Makes a range read as zeros.
    ///
    /// - Parameter releasing: give the space back to the host, as FALLOC_FL_PUNCH_HOLE does; otherwise it stays
    ///   allocated, as FALLOC_FL_ZERO_RANGE leaves it.
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

    private func zeroRange(
        _ offset: Int64, _ end: Int64, releasing: Bool, _ workspace: Workspace
    ) throws(Fault) {
        let size = Int64(ContentLayout.blockSize)
        guard offset < end else { return }
        let firstWhole = (offset + size - 1) / size
        // The last block of the content is whole when the range reaches its end.
        let endWhole = end == contentLength ? blockCount : end / size
        if firstWhole > endWhole || firstWhole == endWhole, offset % size != 0 || end % size != 0 {
            try zeroWithinBlocks(offset..<min(end, firstWhole * size), workspace)
            if end > firstWhole * size { try zeroWithinBlocks(max(offset, endWhole * size)..<end, workspace) }
            return
        }
        if offset < firstWhole * size { try zeroWithinBlocks(offset..<firstWhole * size, workspace) }
        if end > endWhole * size { try zeroWithinBlocks(endWhole * size..<end, workspace) }
        guard firstWhole < endWhole else { return }
        try openHeader(workspace)
        hasGap = true
        for group in ContentLayout.group(of: firstWhole)...ContentLayout.group(of: endWhole - 1) {
            guard let page = try tagPage(group, workspace) else { continue }
            let base = Int64(group) * Int64(ContentLayout.blocksPerGroup)
            let blocks = (firstWhole..<endWhole).clamped(to: base..<base + Int64(ContentLayout.blocksPerGroup))
            page.clear(Int(blocks.lowerBound - base)..<Int(blocks.upperBound - base))
            try writePage(page, workspace)
            // The last block stays: after a power cut its seal may be there still, and says how long the content is.
            let released = blocks.clamped(to: 0..<blockCount - 1)
            guard releasing, !released.isEmpty else { continue }
            let file = self.file
            try onHost { () throws(SystemError) in
                try file.descriptor.punchHole(
                    ContentLayout.blockOffset(released.lowerBound), count: Int64(released.count) * size)
            }
            let start = ContentLayout.blockOffset(released.lowerBound)
            reserved.remove(contentsOf: start..<start + Int64(released.count) * size)
        }
    }

    /// Zeroes a part of one block, which stays a block unless it is a hole already.
    private func zeroWithinBlocks(_ range: Range<Int64>, _ workspace: Workspace) throws(Fault) {
        guard !range.isEmpty else { return }
        let block = ContentLayout.block(at: range.lowerBound)
        let index = ContentLayout.index(of: block)
        guard let page = try tagPage(ContentLayout.group(of: block), workspace) else { return }
        let start = block * Int64(ContentLayout.blockSize)
        let valid = try readBlock(block, page, workspace)
        let from = Int(range.lowerBound - start)
        let to = min(Int(range.upperBound - start), valid)
        guard from < to else { return }
        workspace.block.zero(from, count: to - from)
        let slot = page.advance(index, length: valid)
        workspace.block.withBytes(0, count: valid) { plaintext in
            workspace.cipher.seal(
                plaintext, key: key, binding: binding(block: block, length: valid), into: workspace.image, at: 0,
                slot: page.bytes, slotOffset: slot.offset)
        }
        try writePage(page, workspace)
        let file = self.file
        try onHost { () throws(SystemError) in
            try file.descriptor.write(from: workspace.image, count: valid, to: ContentLayout.blockOffset(block))
        }
    }

    /// Reserves space on the host for a range, tags included.
    ///
    /// - Parameter extending: let the content grow to the end of the range.
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
            reserved.insert(contentsOf: start..<end)
            guard extending, offset + count > contentLength else { return }
            try withWorkspace { workspace throws(Fault) in
                try change(workspace) { () throws(Fault) in try extend(to: offset + count, workspace) }
            }
        }
    }

    // MARK: Finding holes

    /// The next offset at or after `offset` where a hole begins or ends, as SEEK_HOLE and SEEK_DATA ask.
    ///
    /// - Returns: nil when there is no data behind `offset`. The end of the content counts as a hole.
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
                    block = Int64(group + 1) * Int64(ContentLayout.blocksPerGroup)
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
