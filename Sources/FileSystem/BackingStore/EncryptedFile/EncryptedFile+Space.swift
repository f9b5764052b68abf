// What the backing file takes on the host: claimed before it grows, counted after. And what becomes of bytes for which
// there was no room.

import DataProtection
import Glibc
import Platform
import SandboxModel

extension EncryptedFile {
    private var weights: SpaceWeights { context.space.weights }

    /// What a write will make the host allocate, at most: blocks that are not there, and their tag pages.
    /// The caller holds the lock.
    func growth(from offset: Int64, to end: Int64, _ workspace: Workspace) throws(Fault) -> Int64 {
        let backing = ContentLayout.blockOffset(ContentLayout.block(at: offset))..<ContentLayout.backingLength(of: end)
        if !reserved.isEmpty, RangeSet(backing).subtracting(reserved).isEmpty { return 0 }
        let first = ContentLayout.block(at: offset)
        let last = ContentLayout.block(at: end - 1)
        var missing = last + 1 - max(first, min(blockCount, last + 1))
        let oldGroups = blockCount > 0 ? ContentLayout.group(of: blockCount - 1) : 0
        // What lies between stays a hole.
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
        return missing * Int64(ContentPage.size)
    }

    /// Claims what fallocate(2) of a range will take at most. The caller holds the lock exclusively.
    func claimAllocation(_ offset: Int64, count: Int64) throws(Fault) -> Int64 {
        // Of a longer range nobody looks which blocks are there already.
        guard count <= EncryptedFile.longestExamined else { return try context.space.claim(count, for: .call) }
        var missing: Int64 = 0
        try withWorkspace { workspace throws(Fault) in
            missing = try growth(from: offset, to: offset + count, workspace)
        }
        return try context.space.claim(missing, for: .call)
    }

    private static let longestExamined: Int64 = 1 << 30

    /// Counts what was written for what the host should have allocated. What it has is asked for when the last writer
    /// closes the file: asked after each write of an untar, it is two calls more for each file.
    /// The caller holds the lock exclusively.
    func countGrowth(_ bytes: Int64) {
        guard bytes > 0 else { return }
        context.space.recount(inode, from: charged, to: charged + bytes)
        charged += bytes
    }

    /// Counts what the backing file takes now, as the host tells it. The caller holds the lock exclusively.
    func recountSpace() {
        let file = self.file
        // Without the times: whoever asks for those makes the next fdatasync dearer.
        guard let status = try? file.descriptor.status(writtenAt: timespec()) else { return }
        let now = weights.bytes(blocks: status.blocks, size: status.size)
        guard now != charged else { return }
        context.space.recount(inode, from: charged, to: now)
        charged = now
    }

    /// Counts what the backing file takes, after something else than its content changed.
    public func countSpace() { lock.writing { recountSpace() } }

    /// Counts nothing for the file any more: its last name is gone.
    public func releaseSpace() {
        lock.writing {
            context.space.recount(inode, from: charged, to: 0)
            charged = 0
        }
    }

    /// Says what is counted for the file, to a count that has just begun.
    func reportSpace() {
        lock.reading { context.space.recordOpenFile(inode, charged) }
    }

    // MARK: What there was no room for

    /// Remembers a range that the kernel has taken from an application and that could not be written: read again, it
    /// must be neither zeros nor what was there before. The caller holds the lock.
    func recordRefusal(_ range: Range<Int64>) {
        lost.insert(contentsOf: range)
        refused.insert(contentsOf: range)
    }

    /// Writes down which blocks were refused, so that they are no holes when the file is opened again. To be called
    /// before the last descriptor that could write is closed.
    ///
    /// What was there before a refused write is left as it was. Where not even a tag page finds room, the hole stays.
    public func markRefusals() {
        lock.writing {
            // Some may have been written anew.
            refused.formIntersection(lost)
            guard !refused.isEmpty, heldKey != nil, isWritable else { return }
            let ranges = refused.ranges.map { $0.clamped(to: 0..<contentLength) }.filter { !$0.isEmpty }
            try? withWorkspace { workspace throws(Fault) in
                for range in ranges { try markRefused(range, workspace) }
            }
            recountSpace()
        }
    }

    /// Whether something in a range was taken from an application and then refused, so that the range cannot be read.
    public func isRefused(_ range: Range<Int64>) -> Bool {
        lock.reading {
            if !lost.intersection(RangeSet(range)).isEmpty { return true }
            let blocks = ContentLayout.block(at: range.lowerBound)...ContentLayout.block(at: range.upperBound - 1)
            var isRefused = false
            try? withWorkspace { workspace throws(Fault) in
                for block in blocks where !isRefused {
                    let page = try tagPage(ContentLayout.group(of: block), workspace)
                    isRefused = page?.isRefused(ContentLayout.index(of: block)) ?? false
                }
            }
            return isRefused
        }
    }

    private func markRefused(_ range: Range<Int64>, _ workspace: Workspace) throws(Fault) {
        let size = Int64(ContentLayout.blockSize)
        let blocks = ContentLayout.block(at: range.lowerBound)...ContentLayout.block(at: range.upperBound - 1)
        guard mayHaveHoles else { return }
        try openHeader(workspace)
        var block = blocks.lowerBound
        while block <= blocks.upperBound {
            let group = ContentLayout.group(of: block)
            let page = try pageForChange(group, workspace)
            while block <= blocks.upperBound, ContentLayout.group(of: block) == group {
                let index = ContentLayout.index(of: block)
                if page.current(index).length == 0 {
                    page.refuse(index, length: Int(min(contentLength - block * size, size)))
                }
                block += 1
            }
            try writePage(page, workspace)
        }
    }
}
