// Recovery: after a crash or a failed write, the pages tell which groups and blocks exist and how long the content is.

import DataProtection
import Glibc
import Platform
import SandboxModel

extension EncryptedFile {
    /// Compares the backing file's length with the header's. If a session ended within a change, finds the true length.
    ///
    /// - Throws: `corrupt` if the lengths differ and no such end of a session explains it: the file was cut.
    func recoverLength(backingLength: Int64, _ workspace: Workspace) throws(Fault) {
        let expected = ContentLayout.backingLength(of: header.length)
        let lostPower = context.history.lostPower(since: header.session)
        if backingLength == expected, !header.isOpen {
            // Tags of appended blocks may have reached the disk without the blocks and the header.
            if lostPower { try clearSlotsBehindEnd(workspace) }
            return
        }
        let isExplained =
            if header.isOpen {
                // Only a power cut can shorten the content from before the header was opened.
                backingLength >= expected || lostPower
            } else {
                lostPower || context.isLengthUncertain(header.session, of: header.identity)
            }
        guard isExplained, backingLength >= Int64(ContentPage.size) else { throw corrupt(.length) }
        try recover(backingLength: backingLength, workspace)
    }

    /// After a change that failed halfway: discards the state in memory and reads it from the file, as after a process
    /// that was killed there. The caller holds the lock exclusively.
    func reload(after fault: Fault, _ workspace: Workspace) {
        // An unreadable block stops a change before anything is written.
        if fault != .corrupt { context.markDisturbed(header.identity) }
        cache.removeAll()
        maps.removeAll()
        uncommitted = UncommittedStructure()
        let file = self.file
        do throws(Fault) {
            let backingLength = try onHost { () throws(SystemError) in
                _ = try file.descriptor.read(into: header.bytes, count: ContentPage.size, from: 0)
                return try file.descriptor.status().size
            }
            header.name(0)
            guard header.isWellFormed(.header), authenticates(header, workspace) else { throw corrupt(.header) }
            contentLength = header.length
            try resolveSlots(of: header, workspace)
            try recoverLength(backingLength: backingLength, workspace)
            if !header.isOpen, isWritable { context.settleLength(of: header.identity) }
        } catch {
            // The host refuses even the header. The state in memory is as far as recovery came.
        }
    }

    /// Brings length, groups and holes in line with the pages that are there, and writes header and maps. Without write
    /// access to the backing file only the state in memory is changed.
    private func recover(backingLength: Int64, _ workspace: Workspace) throws(Fault) {
        needsWriter = !isWritable
        // The repair gives the backing file another time. The close puts that of the last write back.
        isChanged = isWritable
        let wasOpen = header.isOpen
        let promised = header.length
        if !wasOpen, backingLength > ContentLayout.backingLength(of: promised) {
            // A truncation was under way; or a growth whose open header was lost with the power. Groups of such a
            // growth are in no map, and stay holes.
            guard isWritable else { return }
            contentLength = ContentLayout.length(ofBacking: backingLength)
            try shrink(to: promised, finishing: true, workspace)
            return
        }
        contentLength = ContentLayout.length(ofBacking: backingLength)
        // The maps of a closed header name all groups.
        if wasOpen || !header.isSparse { try findGroups(workspace) }
        let found = contentLength
        // A file with a closed, sparse header may end in a hole that was synchronized before a block was written there.
        try findEnd(atLeast: wasOpen ? promised : header.isSparse ? contentLength : 0, workspace)
        dropGroups(
            after: ContentLayout.lastGroup(length: contentLength),
            through: ContentLayout.lastGroup(length: max(found, promised)))
        guard isWritable else { return }
        defer { recountSpace() }
        let file = self.file
        let length = ContentLayout.backingLength(of: contentLength)
        if length != backingLength {
            try onHost { () throws(SystemError) in try file.descriptor.truncate(to: length) }
        }
        try clearSlotsBehindEnd(workspace)
        try commitStructure(workspace)
    }

    /// Finds the groups that exist, by their tag pages. In a file without holes, all groups from before the header was
    /// opened must exist.
    private func findGroups(_ workspace: Workspace) throws(Fault) {
        let last = ContentLayout.lastGroup(length: contentLength)
        uncommitted.hasGap = true
        guard last > 0 else { return }
        let known = header.isOpen && !header.isSparse ? ContentLayout.lastGroup(length: header.length) : 0
        let probe = ContentPage()
        let file = self.file
        var group = known + 1
        while group <= last {
            let place = ContentLayout.tagPageOffset(group: group)
            // Skips the host's holes: nearly all of a sparse file of a terabyte.
            guard let data = try onHost({ () throws(SystemError) in try file.descriptor.nextData(from: place) })
            else { return }
            if data >= place + Int64(ContentPage.size) {
                group = max(group + 1, ContentLayout.group(atBackingOffset: data))
                continue
            }
            let got = try onHost { () throws(SystemError) in
                try file.descriptor.read(into: probe.bytes, count: ContentPage.size, from: place)
            }
            // A page older than the header is left from a session whose recovery passed it over.
            if got == ContentPage.size, !probe.isZero, probe.session >= header.session {
                uncommitted.addedGroups.insert(group)
            }
            group += 1
        }
    }

    /// Moves the end of the content before a last block that never wholly arrived, or to the end of its older seal.
    private func findEnd(atLeast promised: Int64, _ workspace: Workspace) throws(Fault) {
        let size = Int64(ContentLayout.blockSize)
        let lostPower = context.history.lostPower(since: header.session)
        while contentLength > 0 {
            let block = ContentLayout.block(at: contentLength - 1)
            let start = block * size
            guard let page = try tagPage(ContentLayout.group(of: block), workspace) else { return }
            let index = ContentLayout.index(of: block)
            if page.current(index).length == 0, page.previous(index).length == 0 { return }
            do throws(Fault) {
                let valid = try readBlock(block, page, workspace)
                // The older seal holds, so the bytes behind it were lost.
                if lostPower, page.turnedBack >> UInt64(index) & 1 == 1 {
                    contentLength = max(start + Int64(valid), promised)
                }
                return
            } catch {
                // A block of zeros was being appended when the host lost power. Any other may have been synchronized
                // before it was overwritten: it stays, and gives EIO.
                guard error == .corrupt, start >= promised, lostPower, try isMissing(block, workspace) else { return }
                contentLength = start
            }
        }
    }

    /// Whether the host has nothing but zeros in the place of a block.
    private func isMissing(_ block: Int64, _ workspace: Workspace) throws(Fault) -> Bool {
        let file = self.file
        let got = try onHost { () throws(SystemError) in
            try file.descriptor.read(
                into: workspace.block, count: ContentLayout.blockSize, from: ContentLayout.blockOffset(block))
        }
        return workspace.block.isZero(0, count: got)
    }

    /// Clears the slots of blocks behind the end, so that they are holes when the content grows over them.
    private func clearSlotsBehindEnd(_ workspace: Workspace) throws(Fault) {
        let last = ContentLayout.lastGroup(length: contentLength)
        guard let page = try tagPageUnlessLost(last, workspace) else { return }
        let kept = Int(blockCount - Int64(last) * Int64(ContentLayout.blocksPerGroup))
        let behind = max(kept, 0)..<ContentLayout.blocksPerGroup
        guard !page.isClear(behind) else { return }
        guard isWritable else {
            needsWriter = true
            return
        }
        isChanged = true
        page.clear(behind)
        if last > 0 { try writePage(page, workspace) }
    }

    /// Makes the older slot current for each block whose last write did not arrive. Needed for pages of a session that
    /// ended within a write, and before such a page is sealed again: the new seal declares it certain.
    func resolveSlots(of page: ContentPage, _ workspace: Workspace) throws(Fault) {
        guard context.isUncertain(page.session, of: header.identity) else { return }
        for index in 0..<ContentLayout.blocksPerGroup {
            let current = page.current(index)
            let previous = page.previous(index)
            guard current.length > 0, previous.length > 0 else { continue }
            let block = Int64(page.number) * Int64(ContentLayout.blocksPerGroup) + Int64(index)
            if try !loadBlock(block, current, of: page, workspace), try loadBlock(block, previous, of: page, workspace)
            {
                page.turnBack(index)
            }
        }
    }

    /// Whether the tags of a group never reached the disk before the host lost power. Nothing in such a group was
    /// synchronized, so its blocks can be written anew.
    func isLost(_ group: Int) throws(Fault) -> Bool {
        // Not by the header's session: writing the file's first blocks anew renews it.
        guard !mayHaveHoles, context.history.hasLostPower else { return false }
        let probe = ContentPage()
        let file = self.file
        let got = try onHost { () throws(SystemError) in
            try file.descriptor.read(
                into: probe.bytes, count: ContentPage.size, from: ContentLayout.tagPageOffset(group: group))
        }
        return got < ContentPage.size || probe.isZero
    }
}
