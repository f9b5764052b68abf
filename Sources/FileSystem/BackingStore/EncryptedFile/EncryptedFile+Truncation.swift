// Changing the length of the content.
//
// A shrinking file is ordered so that a process killed at any instant leaves a header from which
// ``EncryptedFile/recoverLength(backingLength:_:)`` finishes the work: header, tags, last block, length of the file.

import DataProtection
import Platform
public import SandboxModel

extension EncryptedFile {
    /// `ftruncate(2)`: changes the length of the content; added bytes read as zeros.
    /// - Throws: EINVAL, EFBIG; EIO or `refused(.dataProtection)` without a key; `corrupt` if the new last block does
    ///   not authenticate; errors of the host.
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

    /// Runs a change of length or holes. After a failure the state in memory is read from the file again.
    func change(_ workspace: Workspace, _ body: () throws(Fault) -> Void) throws(Fault) {
        defer { recountSpace() }
        isChanged = true
        do throws(Fault) {
            try body()
        } catch {
            reload(after: error, workspace)
            throw error
        }
    }

    /// Whether the content ends in a hole, or in zeros behind the last seal, as ftruncate(2) and fallocate(2) leave it.
    func endsUnsealed(_ workspace: Workspace) throws(Fault) -> Bool {
        guard contentLength > 0 else { return false }
        let last = ContentLayout.block(at: contentLength - 1)
        guard let page = try tagPageUnlessLost(ContentLayout.group(of: last), workspace) else { return true }
        let tail = contentLength - last * Int64(ContentLayout.blockSize)
        return page.current(ContentLayout.index(of: last)).length < tail
    }

    /// Lengthens the content by a hole. The caller holds the lock exclusively, as for ``shrink(to:finishing:_:)``.
    func extend(to newLength: Int64, _ workspace: Workspace) throws(Fault) {
        try openHeader(workspace)
        let file = self.file
        try onHost { () throws(SystemError) in
            try file.descriptor.truncate(to: ContentLayout.backingLength(of: newLength))
        }
        let newBlocks = (newLength + Int64(ContentLayout.blockSize) - 1) / Int64(ContentLayout.blockSize)
        uncommitted.hasGap = uncommitted.hasGap || newBlocks > blockCount
        uncommitted.wasExtended = true
        contentLength = newLength
    }

    /// Cuts the content, and seals its last block anew.
    /// - Parameter finishing: whether recovery finishes an interrupted truncation. Its last block or group may be lost
    ///   then, which must not cost the rest of the file.
    func shrink(to newLength: Int64, finishing: Bool = false, _ workspace: Workspace) throws(Fault) {
        // A closed header with a shorter length announces a truncation, so earlier changes are committed first.
        if header.isOpen { try commitStructure(workspace) }
        let size = Int64(ContentLayout.blockSize)
        let lastGroup = ContentLayout.lastGroup(length: newLength)
        let keptBlocks = (newLength + size - 1) / size
        let page = finishing ? try tagPageUnlessLost(lastGroup, workspace) : try tagPage(lastGroup, workspace)

        // The last block is cut to the end of the content.
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

        // From here on the next opening finishes the truncation.
        header.length = newLength
        if let page {
            if tailLength > 0 {
                workspace.block.withBytes(0, count: tailLength) { plaintext in
                    seal(plaintext, as: lastBlock, of: page, at: 0, workspace)
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
        backingSpace.unreserve(ContentLayout.backingLength(of: newLength)..<Int64.max)
        contentLength = newLength
    }

    /// Forgets the groups behind the new end. The map that covers the new end may go on naming them: the header's
    /// length overrides it, and the next growth corrects it.
    func dropGroups(after last: Int, through oldLast: Int) {
        guard oldLast > last else { return }
        cache.remove(after: last)
        uncommitted.addedGroups = uncommitted.addedGroups.filter { $0 <= last }
        guard header.isSparse else { return }
        // A map lies behind the first group that it covers.
        let kept = (last + ContentLayout.groupsPerMap - 1) / ContentLayout.groupsPerMap
        maps.remove(after: kept - 1)
        for map in kept..<max(oldLast / ContentLayout.groupsPerMap + 1, kept) { header.setMap(map, false) }
    }
}
