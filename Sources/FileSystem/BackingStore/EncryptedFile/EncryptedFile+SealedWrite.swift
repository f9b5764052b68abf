// Writing whole blocks over existing ones: sealed before the lock is held, and written together with what others sealed
// meanwhile.
//
// Writeback sends the pages that a program wrote here and there as many small requests at a time, in the order of the
// file. Their encryption runs in parallel, and one tag page is written for all that wait in its group. As for any other
// blocks that exist, the tag page is written first: its other slots still describe the old blocks.

import DataProtection
import Platform
import SandboxModel
import Synchronization

extension EncryptedFile {
    /// Writes bytes that fill whole blocks and replace existing ones.
    /// - Returns: `written`; `refused` if they do not, or if they are to be written in the ordinary way.
    /// - Throws: as ``write(_:at:for:)``.
    func writeSealed(
        _ bytes: borrowing RawSpan, at offset: Int64, for purpose: SpaceLedger.Purpose, _ workspace: Workspace
    ) throws(Fault) -> SealedRun.Outcome {
        guard let run = sealRun(bytes, at: offset, for: purpose, workspace) else { return .refused }
        sealedRuns.add(run)
        if lock.lockForWriting(unless: { run.isDone.load(ordering: .acquiring) }) {
            writeSealedRuns(workspace)
            lock.unlock()
        }
        if case .failed(let fault) = run.write.outcome { throw fault }
        return run.write.outcome
    }

    /// Seals bytes without the lock.
    /// - Returns: the workspace's run; nil if the bytes are to be written in the ordinary way.
    func sealRun(
        _ bytes: borrowing RawSpan, at offset: Int64, for purpose: SpaceLedger.Purpose, _ workspace: Workspace
    ) -> SealedRun? {
        guard let blocks = overwritten(offset, count: bytes.byteCount), let key = sealingKey.withLock({ $0 }) else {
            return nil
        }
        let run = workspace.sealed
        let size = ContentLayout.blockSize
        for index in stride(from: 0, to: blocks.count, by: 1) {
            workspace.cipher.seal(
                bytes.extracting(index * size..<(index + 1) * size), key: key,
                binding: binding(block: blocks.lowerBound + Int64(index), length: size),
                into: BlockCipher.Place(run.image, index * size),
                slot: BlockCipher.Place(run.seals, SealedRun.sealOffset(index)))
        }
        run.write = SealedRun.Write(blocks: blocks, key: key.serial, purpose: purpose)
        return run
    }

    /// The blocks of a range, where it probably consists of whole existing ones. Only the holder of the lock knows.
    private func overwritten(_ offset: Int64, count: Int) -> Range<Int64>? {
        let size = ContentLayout.blockSize
        guard count <= SealedRun.capacity * size, count % size == 0, offset % Int64(size) == 0,
            offset + Int64(count) <= denseLength.load(ordering: .relaxed)
        else { return nil }
        let first = ContentLayout.block(at: offset)
        let index = ContentLayout.index(of: first)
        // At the head of a group one pwrite(2) does the tag page and the blocks (`EncryptedFile+Write`).
        guard index > 0, index + count / size <= ContentLayout.blocksPerGroup else { return nil }
        return first..<first + Int64(count / size)
    }

    // MARK: With the lock held

    /// Writes all runs that wait. The caller holds the lock exclusively.
    private func writeSealedRuns(_ workspace: Workspace) {
        sealedRuns.take(&takenRuns)
        keepAdmittedRuns(workspace)
        var next = 0
        while next < takenRuns.count {
            let end = endOfBatch(from: next)
            guard writeSealedRuns(next..<end, in: takenRuns[next].write.group, workspace) else {
                // Reading the file anew may have used this thread's image.
                for index in end..<takenRuns.count { takenRuns[index].finish(.refused) }
                break
            }
            next = end
        }
        takenRuns.removeAll(keepingCapacity: true)
    }

    /// By hand: `removeAll(where:)` allocates in a build without optimization.
    private func keepAdmittedRuns(_ workspace: Workspace) {
        var kept = 0
        for index in stride(from: 0, to: takenRuns.count, by: 1) {
            let run = takenRuns[index]
            if admits(run, workspace) {
                takenRuns[kept] = run
                kept += 1
            } else {
                run.finish(.refused)
            }
        }
        takenRuns.removeLast(takenRuns.count - kept)
    }

    /// Whether a run may be written as it was sealed. Otherwise the ordinary write answers for what is in its way.
    private func admits(_ run: SealedRun, _ workspace: Workspace) -> Bool {
        guard access == .full || access == .writingOut, run.write.key == heldKey?.serial,
            run.write.range.upperBound <= contentLength, let page = sealedPage(run.write.group, workspace)
        else { return false }
        let first = ContentLayout.index(of: run.write.blocks.lowerBound)
        for index in stride(from: first, to: first + run.write.blocks.count, by: 1)
        where page.current(index).length == 0 { return false }
        return true
    }

    /// - Returns: nil where the page cannot be had.
    private func sealedPage(_ group: Int, _ workspace: Workspace) -> ContentPage? {
        (try? tagPage(group, workspace)) ?? nil
    }

    /// The index of the first run that cannot be written with those before it: it is of another group, or of a block that
    /// one of them has. A tag page describes the block that is on the disk and the one to come, and no third.
    private func endOfBatch(from start: Int) -> Int {
        let group = takenRuns[start].write.group
        var places: UInt64 = 0
        var end = start
        while end < takenRuns.count, takenRuns[end].write.group == group, takenRuns[end].write.places & places == 0 {
            places |= takenRuns[end].write.places
            end += 1
        }
        return end
    }

    /// Writes the tag page of a group, and then the blocks of runs of that group.
    /// - Returns: false after an error, when the state in memory has been read anew.
    private func writeSealedRuns(_ runs: Range<Int>, in group: Int, _ workspace: Workspace) -> Bool {
        var next = runs.lowerBound
        do throws(Fault) {
            guard let page = try tagPage(group, workspace) else { throw corrupt(.group(group)) }
            // stride: a range's iterator allocates in a build without optimization.
            for index in stride(from: runs.lowerBound, to: runs.upperBound, by: 1) {
                advance(takenRuns[index], in: page)
            }
            isChanged = true
            try writePage(page, workspace)
            while next < runs.upperBound {
                try put(takenRuns[next])
                next += 1
            }
            return true
        } catch {
            reload(after: error, workspace)
            recountSpace()
            // Those before are on the host, tag page and blocks.
            for index in next..<runs.upperBound {
                let run = takenRuns[index]
                if run.write.purpose == .writtenBack { recordRefusal(run.write.range) }
                run.finish(.failed(error))
            }
            return false
        }
    }

    /// Takes the seals of a run into its tag page.
    private func advance(_ run: SealedRun, in page: ContentPage) {
        let first = ContentLayout.index(of: run.write.blocks.lowerBound)
        for index in stride(from: 0, to: run.write.blocks.count, by: 1) {
            let slot = page.advance(first + index, length: ContentLayout.blockSize)
            page.bytes.copy(
                from: run.seals, at: SealedRun.sealOffset(index), count: BlockCipher.slotLength, to: slot.offset)
        }
    }

    /// Writes the blocks of a run, whose tag page is on the host.
    private func put(_ run: SealedRun) throws(Fault) {
        let file = self.file
        let write = run.write
        let place = ContentLayout.blockOffset(write.blocks.lowerBound)
        try onHost { () throws(SystemError) in
            try file.descriptor.write(
                from: run.image, count: write.blocks.count * ContentLayout.blockSize, to: place)
        }
        endLoss(write.range)
        syncHabit.wrote(
            ContentLayout.tagPageOffset(group: write.group)..<ContentLayout.backingLength(of: write.range.upperBound))
        run.finish(.written(syncHabit.expected.map { EarlyWriteback(file: file, range: $0) }))
    }
}
