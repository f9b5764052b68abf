// Writing: the lock is taken, space claimed, the write cut into runs; each run is sealed into an image and written.
//
// A run is ordered so that a process killed at any instant leaves every block as it was or as it was to be:
// - Blocks that exist, or lie behind the end: first the tag page, whose other slot still describes the old block, then
//   the block. If the tag page lies before the run's first block, one pwrite(2) does both, in ascending order.
// - Holes: first the block, which no slot describes yet, then the tag page.

import DataProtection
import Platform
public import SandboxModel
import Synchronization

extension EncryptedFile {
    /// Writes all of `bytes`, and extends the content if they end behind it.
    ///
    /// - Parameter purpose: a call is refused earlier than writeback. Bytes that writeback cannot write are lost to
    ///   their application: see ``LostRanges``.
    /// - Parameter fromCache: whether they are pages of the kernel's cache. Such a write may return before the blocks
    ///   are on the host: until then the lock is held. Their failure is told by the write that holds it.
    /// - Returns: a range whose writeback may begin once the caller has its reply; usually nil.
    /// - Throws: ENOSPC and other errors of the host; completed runs of the same write then stay. EFBIG behind
    ///   ``ContentLayout/maximumLength``. EIO if other writes from the cache are lost. EIO or
    ///   `refused(.dataProtection)` without a key.
    @discardableResult
    public func write(
        _ bytes: borrowing RawSpan, at offset: Int64, for purpose: SpaceLedger.Purpose = .call, fromCache: Bool = false
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
        let write = SealedRun.Write(purpose: purpose, isFromCache: fromCache)
        if case .written(let early) = try writeSealed(bytes, at: offset, write, workspace) { return early }
        return try writeLocked(bytes, at: offset, for: purpose, workspace)
    }

    /// Writes bytes of any kind, with the lock held all the time.
    private func writeLocked(
        _ bytes: borrowing RawSpan, at offset: Int64, for purpose: SpaceLedger.Purpose, _ workspace: Workspace
    ) throws(Fault) -> EarlyWriteback? {
        // By hand, because a closure cannot capture a span.
        lock.lockForWriting()
        defer { lock.unlock() }
        let end = offset + Int64(bytes.byteCount)
        do throws(Fault) {
            try requireWriting()
        } catch {
            recordLoss(offset..<end)
            throw error
        }
        // The application was told that these bytes are written.
        func refuse(_ fault: Fault) -> Fault {
            if purpose == .writtenBack { recordRefusal(offset..<end) }
            return fault
        }
        let growth: Int64
        let claim: Int64
        do throws(Fault) {
            // Overwriting existing blocks allocates nothing.
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
        isChanged = true
        do throws(Fault) {
            try writeRuns(bytes, at: offset, headerLength: headerLength, workspace)
            endLoss(offset..<end)
            countGrowth(growth)
            denseLength.store(mayHaveHoles ? 0 : contentLength, ordering: .relaxed)
            let firstGroup = ContentLayout.group(of: ContentLayout.block(at: offset))
            syncHabit.wrote(ContentLayout.tagPageOffset(group: firstGroup)..<ContentLayout.backingLength(of: end))
            return syncHabit.expected.map { EarlyWriteback(file: file, range: $0) }
        } catch {
            reload(after: error, workspace)
            recountSpace()
            throw refuse(error)
        }
    }

    // MARK: Growth

    /// An upper bound of the bytes that the host allocates for a write: missing blocks, and their tag pages.
    /// The caller holds the lock.
    func growth(from offset: Int64, to end: Int64, _ workspace: Workspace) throws(Fault) -> Int64 {
        let range = ContentLayout.blockOffset(ContentLayout.block(at: offset))..<ContentLayout.backingLength(of: end)
        if backingSpace.isReserved(range) { return 0 }
        let first = ContentLayout.block(at: offset)
        let last = ContentLayout.block(at: end - 1)
        var missing = last + 1 - max(first, min(blockCount, last + 1))
        let oldGroups = blockCount > 0 ? ContentLayout.group(of: blockCount - 1) : 0
        // Groups between the old end and the write stay holes.
        let before = max(oldGroups, ContentLayout.group(of: first) - 1)
        missing += Int64(max(ContentLayout.group(of: last) - before, 0))
        if mayHaveHoles, first < blockCount {
            var group = -1
            var page: ContentPage?
            for block in first...min(last, blockCount - 1) {
                if ContentLayout.group(of: block) != group {
                    group = ContentLayout.group(of: block)
                    page = try tagPage(group, workspace)
                    if page == nil { missing += 1 }
                }
                if page?.current(ContentLayout.index(of: block)).length ?? 0 == 0 { missing += 1 }
            }
        }
        // Blocks and tag pages have the same size.
        return missing * Int64(ContentPage.size)
    }

    /// Opens the header before the length changes, unless the first run writes it anyway: the header of a small file is
    /// never open.
    ///
    /// - Returns: in that case the new length, to be written with the first run.
    private func prepareGrowth(from offset: Int64, to end: Int64, _ workspace: Workspace) throws(Fault) -> Int64? {
        guard end > contentLength else { return nil }
        let leavesGap = ContentLayout.block(at: offset) > blockCount
        if !header.isOpen {
            let needsMaps = header.isSparse && ContentLayout.lastGroup(length: end) > 0
            if offset < ContentLayout.groupSize, !leavesGap, !needsMaps, try !endsUnsealed(workspace) { return end }
            try openHeader(workspace)
        }
        uncommitted.hasGap = uncommitted.hasGap || leavesGap
        return nil
    }

    /// Marks the header as open, on disk: from then on length and groups are found from the pages after a crash.
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

    // MARK: Runs

    /// Consecutive blocks that one image holds and that are written in one order.
    private struct Run {
        let blocks: Range<Int64>
        let isHole: Bool

        var firstGroup: Int { ContentLayout.group(of: blocks.lowerBound) }
        var lastGroup: Int { ContentLayout.group(of: blocks.upperBound - 1) }

        /// Whether the image begins with the tag page of the first group.
        var tagsLead: Bool { !isHole && ContentLayout.index(of: blocks.lowerBound) == 0 }

        /// Offset in the backing file at which the image lies.
        var start: Int64 {
            tagsLead
                ? ContentLayout.tagPageOffset(group: firstGroup) : ContentLayout.blockOffset(blocks.lowerBound)
        }
    }

    /// Writes run after run. After an error the completed ones stay.
    /// - Parameter headerLength: the content's new length, for the header if the first run writes that; nil otherwise.
    private func writeRuns(
        _ bytes: borrowing RawSpan, at offset: Int64, headerLength: Int64?, _ workspace: Workspace
    ) throws(Fault) {
        let size = Int64(ContentLayout.blockSize)
        let end = offset + Int64(bytes.byteCount)
        let oldBlocks = blockCount
        var block = ContentLayout.block(at: offset)
        let last = ContentLayout.block(at: end - 1)
        while block <= last {
            let run = try run(from: block, to: last, oldBlocks: oldBlocks, workspace)
            let from = max(offset, block * size)
            let to = min(end, run.blocks.upperBound * size)
            let part = bytes.extracting(Int(from - offset)..<Int(to - offset))
            // A new group of a sparse file needs a map, which is written when the header is closed.
            if run.isHole, try tagPage(run.firstGroup, workspace) == nil { try openHeader(workspace) }
            try writeRun(run, part, at: from, headerLength: headerLength, workspace)
            contentLength = max(contentLength, to)
            block = run.blocks.upperBound
        }
        // A closed header covers all groups.
        if !header.isOpen { uncommitted.addedGroups.removeAll(keepingCapacity: true) }
    }

    /// The longest run from a block on.
    private func run(
        from first: Int64, to last: Int64, oldBlocks: Int64, _ workspace: Workspace
    ) throws(Fault) -> Run {
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
            // The tag page of holes comes after them, so such a run stays within its group. And a map page interrupts
            // the image behind the first group that it covers.
            if startsGroup, kind || group % ContentLayout.groupsPerMap == 1 { break }
            if try isHole(stop) != kind { break }
            stop += 1
        }
        return Run(blocks: first..<stop, isHole: kind)
    }

    /// Seals a run into `workspace.image`, tag pages between its blocks included, and writes it.
    private func writeRun(
        _ run: Run, _ bytes: borrowing RawSpan, at offset: Int64, headerLength: Int64?, _ workspace: Workspace
    ) throws(Fault) {
        let size = Int64(ContentLayout.blockSize)
        let start = run.start
        let end = offset + Int64(bytes.byteCount)
        var imageEnd = 0
        for group in run.firstGroup...run.lastGroup {
            let page = try pageForChange(group, workspace)
            if group == 0, let headerLength { page.length = headerLength }
            let base = Int64(group) * Int64(ContentLayout.blocksPerGroup)
            let inGroup = run.blocks.clamped(to: base..<base + Int64(ContentLayout.blocksPerGroup))
            for block in stride(from: inGroup.lowerBound, to: inGroup.upperBound, by: 1) {
                let from = max(offset, block * size)
                let to = min(end, (block + 1) * size)
                let place = Int(ContentLayout.blockOffset(block) - start)
                let length = try mergeAndSeal(
                    bytes.extracting(Int(from - offset)..<Int(to - offset)), at: from, page, place: place, workspace)
                imageEnd = place + length
                if length < ContentLayout.blockSize, block < run.blocks.upperBound - 1 {
                    workspace.image.zero(place + length, count: ContentLayout.blockSize - length)
                }
            }
            seal(page, workspace)
            let place = ContentLayout.tagPageOffset(group: group) - start
            if place >= 0 {
                workspace.image.copy(from: page.bytes, at: 0, count: ContentPage.size, to: Int(place))
            }
        }
        try put(run, imageCount: imageEnd, workspace)
    }

    /// Seals one block into the image: the new bytes, and the old ones that they do not cover.
    ///
    /// - Parameter offset: of the bytes in the content; they lie in one block.
    /// - Returns: the number of valid bytes in the block.
    private func mergeAndSeal(
        _ bytes: borrowing RawSpan, at offset: Int64, _ page: ContentPage, place: Int, _ workspace: Workspace
    ) throws(Fault) -> Int {
        let block = ContentLayout.block(at: offset)
        let begin = Int(offset - block * Int64(ContentLayout.blockSize))
        let end = begin + bytes.byteCount
        // The slot of a block that was cut without being sealed anew covers more than the content has of it.
        let within = contentLength - block * Int64(ContentLayout.blockSize)
        let old =
            within > 0 ? Int(min(Int64(page.current(ContentLayout.index(of: block)).length), within)) : 0
        // A lost block can only be replaced whole: the rest would read as zeros.
        if old == 0, !mayHaveHoles, begin > 0 || Int64(end) < min(within, Int64(ContentLayout.blockSize)), within > 0 {
            throw corrupt(.block(block))
        }
        let length = max(old, end)
        if begin == 0, end == length {
            seal(bytes, as: block, of: page, at: place, workspace)
            return length
        }
        let valid = old > 0 ? try readBlock(block, page, workspace) : 0
        if valid < begin { workspace.block.zero(valid, count: begin - valid) }
        workspace.block.copy(bytes, to: begin)
        workspace.block.withBytes(0, count: length) { plaintext in
            seal(plaintext, as: block, of: page, at: place, workspace)
        }
        return length
    }

    /// Writes the image of a run and, before or after it, a tag page that is not part of it.
    private func put(_ run: Run, imageCount: Int, _ workspace: Workspace) throws(Fault) {
        let file = self.file
        let page = run.firstGroup == 0 ? header : cache.page(run.firstGroup)!
        let pageOffset = ContentLayout.tagPageOffset(group: run.firstGroup)
        try onHost { () throws(SystemError) in
            if !run.tagsLead, !run.isHole {
                try file.descriptor.write(from: page.bytes, count: ContentPage.size, to: pageOffset)
            }
            try file.descriptor.write(from: workspace.image, count: imageCount, to: run.start)
            if run.isHole {
                try file.descriptor.write(from: page.bytes, count: ContentPage.size, to: pageOffset)
            }
        }
    }
}
