// Writing. A write is cut into runs, and each run is ordered so that a process killed at any instant leaves every
// block either as it was or as it was to be:
//
// - blocks that exist, or lie behind the end: first the tag page, whose other slot still describes the old block,
//   then the block. Where the tag page lies before its first block, one pwrite does both, in ascending order;
// - holes: first the block, which nothing describes yet, then the tag page.

import DataProtection
import Platform
public import SandboxModel

extension EncryptedFile {
    /// Writes all of `bytes`, extending the content where they end behind it.
    ///
    /// - Parameter purpose: a call is refused where the kernel's own writing would not be. What cannot be written of the
    ///   latter is lost to its application: see ``markRefusals()``.
    /// - Returns: what to let the host begin with when the write is answered; nil most of the time.
    /// - Throws: the host's error, such as ENOSPC; what was there before is then as it was, but for runs of the
    ///   same call that had been written already. EFBIG behind ``ContentLayout/maximumLength``.
    @discardableResult
    public func write(
        _ bytes: borrowing RawSpan, at offset: Int64, for purpose: SpaceLedger.Purpose = .call
    ) throws(Fault) -> EarlyWriteback? {
        let count = bytes.byteCount
        guard count > 0 else { return nil }
        guard offset >= 0, offset <= ContentLayout.maximumLength - Int64(count) else {
            throw .system(.fileTooLarge)
        }
        let workspace = context.workspaces.take()
        defer {
            if isComplete { workspace.wipePlaintext() }
            context.workspaces.give(workspace)
        }
        // A closure cannot capture a span, so the lock is taken and given back by hand.
        lock.lockForWriting()
        defer { lock.unlock() }
        let end = offset + Int64(count)
        do throws(Fault) {
            try requireWriting()
        } catch {
            recordLoss(offset..<end)
            throw error
        }
        // Whoever wrote(2) what the kernel brings here believes it written.
        func refuse(_ fault: Fault) -> Fault {
            if purpose == .writtenBack { recordRefusal(offset..<end) }
            return fault
        }
        let growth: Int64
        let claim: Int64
        do throws(Fault) {
            // An overwrite of what is all there takes nothing.
            growth = end > contentLength || mayHaveHoles ? try self.growth(from: offset, to: end, workspace) : 0
            claim = try context.space.claim(growth, for: purpose)
        } catch {
            throw refuse(error)
        }
        defer { context.space.release(claim) }
        let headerLength: Int64?
        do throws(Fault) {
            headerLength = try prepareGrowth(from: offset, to: end, workspace)
        } catch {
            throw refuse(error)
        }
        do throws(Fault) {
            try writeRuns(bytes, at: offset, headerLength: headerLength, workspace)
            endLoss(offset..<end)
            countGrowth(growth)
            let firstGroup = ContentLayout.group(of: ContentLayout.block(at: offset))
            syncHabit.wrote(ContentLayout.tagPageOffset(group: firstGroup)..<ContentLayout.backingLength(of: end))
            return syncHabit.expected.map { EarlyWriteback(file: file, range: $0) }
        } catch {
            reload(after: error, workspace)
            recountSpace()
            throw refuse(error)
        }
    }

    /// Says in the header that the length changes, before it does.
    ///
    /// - Returns: the new length where the header can be written together with the first run, because that run
    ///   writes the first page anyway: a small file's header is never open.
    private func prepareGrowth(from offset: Int64, to end: Int64, _ workspace: Workspace) throws(Fault) -> Int64? {
        guard end > contentLength else { return nil }
        let leavesGap = ContentLayout.block(at: offset) > blockCount
        if !header.isOpen {
            let needsMaps = header.isSparse && ContentLayout.lastGroup(length: end) > 0
            if offset < ContentLayout.groupSize, !leavesGap, !needsMaps, try !endsUnsealed(workspace) { return end }
            try openHeader(workspace)
        }
        hasGap = hasGap || leavesGap
        return nil
    }

    func openHeader(_ workspace: Workspace) throws(Fault) {
        guard !header.isOpen else { return }
        header.isOpen = true
        do throws(Fault) {
            try writePage(header, workspace)
        } catch {
            header.isOpen = false
            throw error
        }
    }

    private func writeRuns(
        _ bytes: borrowing RawSpan, at offset: Int64, headerLength: Int64?, _ workspace: Workspace
    ) throws(Fault) {
        let size = Int64(ContentLayout.blockSize)
        let end = offset + Int64(bytes.byteCount)
        let oldBlocks = blockCount
        var block = ContentLayout.block(at: offset)
        let last = ContentLayout.block(at: end - 1)
        while block <= last {
            let (stop, isHole) = try run(from: block, to: last, oldBlocks: oldBlocks, workspace)
            let from = max(offset, block * size)
            let to = min(end, stop * size)
            let part = bytes.extracting(Int(from - offset)..<Int(to - offset))
            // A new group of a file with holes is named by a map, which is written when the header is closed.
            if isHole, try tagPage(ContentLayout.group(of: block), workspace) == nil { try openHeader(workspace) }
            try writeRun(
                part, at: from, blocks: block..<stop, isHole: isHole, headerLength: headerLength, workspace)
            contentLength = max(contentLength, to)
            block = stop
        }
        // Groups that a closed header covers need no remembering.
        if !header.isOpen { addedGroups.removeAll(keepingCapacity: true) }
    }

    /// The longest run of blocks that are written in the same order and fit the image: its end, and whether they
    /// are holes.
    private func run(
        from first: Int64, to last: Int64, oldBlocks: Int64, _ workspace: Workspace
    ) throws(Fault) -> (end: Int64, isHole: Bool) {
        func isHole(_ block: Int64) throws(Fault) -> Bool {
            guard mayHaveHoles, block < oldBlocks else { return false }
            guard let page = try tagPage(ContentLayout.group(of: block), workspace) else { return true }
            return page.current(ContentLayout.index(of: block)).length == 0
        }
        let kind = try isHole(first)
        var stop = first + 1
        while stop <= last {
            let group = ContentLayout.group(of: stop)
            let startsGroup = ContentLayout.index(of: stop) == 0
            // A hole's tag page comes after its blocks, so such a run stays within one group; and a map page
            // interrupts the image behind the first group that it covers.
            if startsGroup, kind || group % ContentLayout.groupsPerMap == 1 { break }
            if try isHole(stop) != kind { break }
            stop += 1
        }
        return (stop, kind)
    }

    private func writeRun(
        _ bytes: borrowing RawSpan, at offset: Int64, blocks: Range<Int64>, isHole: Bool, headerLength: Int64?,
        _ workspace: Workspace
    ) throws(Fault) {
        let size = Int64(ContentLayout.blockSize)
        let firstGroup = ContentLayout.group(of: blocks.lowerBound)
        let lastGroup = ContentLayout.group(of: blocks.upperBound - 1)
        let tagsLead = !isHole && ContentLayout.index(of: blocks.lowerBound) == 0
        let start =
            tagsLead
            ? ContentLayout.tagPageOffset(group: firstGroup) : ContentLayout.blockOffset(blocks.lowerBound)
        let end = offset + Int64(bytes.byteCount)
        var imageEnd = 0
        for group in firstGroup...lastGroup {
            let page = try pageForChange(group, workspace)
            if group == 0, let headerLength { page.length = headerLength }
            let base = Int64(group) * Int64(ContentLayout.blocksPerGroup)
            let inGroup = blocks.clamped(to: base..<base + Int64(ContentLayout.blocksPerGroup))
            for block in stride(from: inGroup.lowerBound, to: inGroup.upperBound, by: 1) {
                let from = max(offset, block * size)
                let to = min(end, (block + 1) * size)
                let place = Int(ContentLayout.blockOffset(block) - start)
                let length = try sealBlock(
                    bytes.extracting(Int(from - offset)..<Int(to - offset)), of: block, at: Int(from - block * size),
                    page, place: place, workspace)
                imageEnd = place + length
                if length < ContentLayout.blockSize, block < blocks.upperBound - 1 {
                    workspace.image.zero(place + length, count: ContentLayout.blockSize - length)
                }
            }
            seal(page, workspace)
            let place = ContentLayout.tagPageOffset(group: group) - start
            if place >= 0 {
                workspace.image.copy(from: page.bytes, at: 0, count: ContentPage.size, to: Int(place))
            }
        }
        try put(imageEnd, at: start, group: firstGroup, tagsLead: tagsLead, isHole: isHole, workspace)
    }

    func pageForChange(_ group: Int, _ workspace: Workspace) throws(Fault) -> ContentPage {
        do throws(Fault) {
            if let page = try tagPage(group, workspace) { return page }
        } catch {
            guard error == .corrupt, try isLost(group) else { throw error }
        }
        let page = cache.blank(for: group)
        page.reset(.tags, number: group)
        cache.insert(page)
        addedGroups.insert(group)
        return page
    }

    /// Whether a group never got its tags because the host lost power: nothing in it was synchronized, and it can be
    /// written anew, block for block.
    private func isLost(_ group: Int) throws(Fault) -> Bool {
        // The header may have been written since, when the file's first blocks were written anew.
        guard !mayHaveHoles, context.history.hasLostPower else { return false }
        let probe = ContentPage()
        let file = self.file
        let got = try onHost { () throws(SystemError) in
            try file.descriptor.read(
                into: probe.bytes, count: ContentPage.size, from: ContentLayout.tagPageOffset(group: group))
        }
        return got < ContentPage.size || probe.isZero
    }

    /// Seals one block into the image: what is new, over what was there where the new does not cover it.
    /// - Returns: the block's valid bytes.
    private func sealBlock(
        _ bytes: borrowing RawSpan, of block: Int64, at offset: Int, _ page: ContentPage, place: Int,
        _ workspace: Workspace
    ) throws(Fault) -> Int {
        let index = ContentLayout.index(of: block)
        let end = offset + bytes.byteCount
        // A block that a truncation cut and did not seal anew may claim more than the content has of it.
        let within = contentLength - block * Int64(ContentLayout.blockSize)
        let old = within > 0 ? Int(min(Int64(page.current(index).length), within)) : 0
        // A block that should be there and is lost is not to be had in part: the rest would be zeros.
        if old == 0, !mayHaveHoles, offset > 0 || Int64(end) < min(within, Int64(ContentLayout.blockSize)), within > 0 {
            throw corrupt(.block(block))
        }
        let length = max(old, end)
        if offset == 0, end == length {
            let slot = page.advance(index, length: length)
            workspace.cipher.seal(
                bytes, key: key, binding: binding(block: block, length: length), into: workspace.image, at: place,
                slot: page.bytes, slotOffset: slot.offset)
            return length
        }
        let valid = old > 0 ? try readBlock(block, page, workspace) : 0
        if valid < offset { workspace.block.zero(valid, count: offset - valid) }
        workspace.block.copy(bytes, to: offset)
        let slot = page.advance(index, length: length)
        workspace.block.withBytes(0, count: length) { plaintext in
            workspace.cipher.seal(
                plaintext, key: key, binding: binding(block: block, length: length), into: workspace.image, at: place,
                slot: page.bytes, slotOffset: slot.offset)
        }
        return length
    }

    /// Writes the image of a run and, in the right order, the tag page that is not part of it.
    private func put(
        _ count: Int, at start: Int64, group: Int, tagsLead: Bool, isHole: Bool, _ workspace: Workspace
    ) throws(Fault) {
        let file = self.file
        let page = group == 0 ? header : cache.page(group)!
        let pageOffset = ContentLayout.tagPageOffset(group: group)
        try onHost { () throws(SystemError) in
            if !tagsLead, !isHole {
                try file.descriptor.write(from: page.bytes, count: ContentPage.size, to: pageOffset)
            }
            try file.descriptor.write(from: workspace.image, count: count, to: start)
            if isHole {
                try file.descriptor.write(from: page.bytes, count: ContentPage.size, to: pageOffset)
            }
        }
    }
}
