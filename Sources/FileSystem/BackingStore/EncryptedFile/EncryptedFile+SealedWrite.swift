// Writing whole blocks over existing ones: sealed before the lock is held, and written together with what others sealed
// meanwhile.
//
// Writeback sends the pages that a program wrote here and there as many small requests at a time, in the order of the
// file. Their encryption runs in parallel, and one tag page is written for all that wait in its group. As for any other
// blocks that exist, the tag page is written first: its other slots still describe the old blocks.
//
// A thread that finds another one writing leaves its run there and answers the kernel at once: on few processors the
// wait costs more than the write. Until the run is on the host the lock is held, so nothing can tell; only a process
// that is killed in these microseconds loses the pages, as it loses those that the kernel had not sent yet. The thread
// that writes tells the kernel of a failure, with its own answer.

import DataProtection
import Platform
import SandboxModel
import Synchronization

extension EncryptedFile {
    /// Writes bytes that fill whole blocks and replace existing ones.
    /// - Returns: `written`, also where another thread is about to write them and holds the lock until then; `refused`
    ///   if they do not, or if they are to be written in the ordinary way.
    /// - Throws: as ``write(_:at:for:)``; EIO where blocks that other threads left here could not be written.
    func writeSealed(
        _ bytes: borrowing RawSpan, at offset: Int64, _ write: SealedRun.Write, _ workspace: Workspace
    ) throws(Fault) -> SealedRun.Outcome {
        guard let run = sealRun(bytes, at: offset, write, workspace) else { return .refused }
        if sealedRuns.add(run) { return .written(nil) }
        defer { context.sealedRuns.give(run) }
        if lock.lockForWriting(unless: { run.isDone.load(ordering: .acquiring) }) {
            defer { lock.unlock() }
            guard writeSealedRuns(acknowledging: write.isFromCache, workspace) else {
                // The ordinary write would follow, which this error prevents.
                if case .refused = run.write.outcome { recordRefusal(run.write.range) }
                // Never ENOSPC: after a purge the caller would try again, and the lost blocks are here no more.
                throw .system(.inputOutput)
            }
        }
        if case .failed(let fault) = run.write.outcome { throw fault }
        return run.write.outcome
    }

    /// Seals bytes without the lock.
    /// - Parameter write: its purpose.
    /// - Returns: nil if the bytes are to be written in the ordinary way.
    func sealRun(
        _ bytes: borrowing RawSpan, at offset: Int64, _ write: SealedRun.Write, _ workspace: Workspace
    ) -> SealedRun? {
        guard let blocks = overwritten(offset, count: bytes.byteCount), let key = sealingKey.withLock({ $0 }) else {
            return nil
        }
        let run = context.sealedRuns.take()
        let size = ContentLayout.blockSize
        for index in stride(from: 0, to: blocks.count, by: 1) {
            workspace.cipher.seal(
                bytes.extracting(index * size..<(index + 1) * size), key: key,
                binding: binding(block: blocks.lowerBound + Int64(index), length: size),
                into: BlockCipher.Place(run.image, index * size),
                slot: BlockCipher.Place(run.seals, SealedRun.sealOffset(index)))
        }
        run.write = write
        (run.write.blocks, run.write.key) = (blocks, key.serial)
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

    /// Runs after which a thread takes those that wait for the last time, and then answers its own request.
    private static let manyRuns = 64

    /// Writes all runs that wait, and those that are left here meanwhile. The caller holds the lock exclusively.
    /// - Parameter acknowledging: whether others may leave theirs. Only the reply to a write from the kernel's cache
    ///   can tell of their failure: the next fsync(2) or close(2) reports it.
    /// - Returns: whether no acknowledged run was lost.
    func writeSealedRuns(acknowledging: Bool, _ workspace: Workspace) -> Bool {
        hasLostRuns = false
        if acknowledging { sealedRuns.acknowledge(sealedTerms) }
        var count = 0
        var isLast = false
        while !isLast {
            isLast = count >= EncryptedFile.manyRuns
            guard sealedRuns.take(&takenRuns, isLast: isLast) else { break }
            count += takenRuns.count
            writeTakenRuns(workspace)
            takenRuns.removeAll(keepingCapacity: true)
        }
        return !hasLostRuns
    }

    /// nil where every write is to wait. The caller holds the lock.
    var sealedTerms: SealedRunQueue.Terms? {
        // After a power cut blocks may be missing, which only the ordinary write replaces.
        guard !mayHaveHoles, !context.history.hasLostPower, access == .full, let key = heldKey else { return nil }
        return SealedRunQueue.Terms(key: key.serial, length: contentLength)
    }

    private func writeTakenRuns(_ workspace: Workspace) {
        var next = 0
        while next < takenRuns.count {
            guard admits(takenRuns[next], workspace) else {
                refuse(takenRuns[next])
                next += 1
                continue
            }
            let end = endOfBatch(from: next, workspace)
            writeBatch(next..<end, in: takenRuns[next].write.group, workspace)
            next = end
        }
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

    /// The index of the first run that cannot be written with those before it: it is of another group, or of a block
    /// that one of them has. A tag page describes the block that is on the disk and the one to come, and no third.
    private func endOfBatch(from start: Int, _ workspace: Workspace) -> Int {
        let group = takenRuns[start].write.group
        var places = takenRuns[start].write.places
        var end = start + 1
        while end < takenRuns.count, takenRuns[end].write.group == group, takenRuns[end].write.places & places == 0,
            admits(takenRuns[end], workspace)
        {
            places |= takenRuns[end].write.places
            end += 1
        }
        return end
    }

    /// Writes the tag page of a group, and then the blocks of runs of that group. After an error the state in memory is
    /// read anew.
    private func writeBatch(_ runs: Range<Int>, in group: Int, _ workspace: Workspace) {
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
        } catch {
            // Its holes and its end may be others now.
            sealedRuns.acknowledge(nil)
            reload(after: error, workspace)
            recountSpace()
            // Those before are on the host, tag page and blocks.
            for index in next..<runs.upperBound { fail(takenRuns[index], error) }
        }
    }

    /// Gives back a run that cannot be written as it was sealed.
    private func refuse(_ run: SealedRun) {
        guard run.write.isAcknowledged else { return run.finish(.refused) }
        fail(run, .system(.inputOutput))
    }

    private func fail(_ run: SealedRun, _ fault: Fault) {
        if run.write.purpose == .writtenBack { recordRefusal(run.write.range) }
        guard run.write.isAcknowledged else { return run.finish(.failed(fault)) }
        hasLostRuns = true
        context.sealedRuns.give(run)
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
        guard write.isAcknowledged else {
            return run.finish(.written(syncHabit.expected.map { EarlyWriteback(file: file, range: $0) }))
        }
        context.sealedRuns.give(run)
    }
}
