// Writeback that failed: the ranges are kept in memory, and those refused for want of space are marked in the file.

import Platform
import SandboxModel

extension EncryptedFile {
    // MARK: Recording

    /// Records a range that the kernel wrote back after the key was taken. The kernel may have dropped its page
    /// already. The caller holds the lock.
    func recordLoss(_ range: Range<Int64>) {
        guard access == .closed || access == .retired else { return }
        losses.addWithoutKey(range)
    }

    /// Records a range that the kernel wrote back and that found no space. The caller holds the lock.
    func recordRefusal(_ range: Range<Int64>) {
        losses.addRefused(range)
    }

    /// Ends the loss of a range that was written anew, zeroed or cut off. The caller holds the lock.
    @inline(__always)
    func endLoss(_ range: Range<Int64>) {
        if !losses.isEmpty { losses.remove(range) }
    }

    // MARK: Asking

    /// - Throws: EIO if a part of the range is lost. The caller holds the lock.
    @inline(__always)
    func requireNoLoss(_ range: Range<Int64>) throws(Fault) {
        guard !losses.isEmpty else { return }
        if losses.overlaps(range) { throw .system(.inputOutput) }
    }

    public var hasLoss: Bool { lock.reading { !losses.isEmpty } }

    /// The ranges lost with the key since the last call, in bytes of content.
    public func takeUnreportedLoss() -> [Range<Int64>] {
        lock.writing { losses.takeUnreported() }
    }

    /// Whether a part of a range was refused for want of space, or lost otherwise, so that it cannot be read. A tag
    /// page that cannot be read counts as not refused.
    /// - Parameter range: not empty.
    public func isRefused(_ range: Range<Int64>) -> Bool {
        lock.reading {
            if losses.overlaps(range) { return true }
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

    // MARK: Marking refused blocks in the file

    /// Marks refused blocks in their tag pages, so that they are no holes when the file is opened again. Called before
    /// the last descriptor that could write is closed.
    ///
    /// A block that existed before a refused write stays as it was. If not even a tag page finds space, the hole stays.
    public func markRefusals() {
        lock.writing {
            let refused = losses.remainingRefused()
            guard !refused.isEmpty, heldKey != nil, isWritable else { return }
            let ranges = refused.map { $0.clamped(to: 0..<contentLength) }.filter { !$0.isEmpty }
            try? withWorkspace { workspace throws(Fault) in
                for range in ranges { try markRefused(range, workspace) }
            }
            recountSpace()
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
