// Closing what was opened: the header says the length again, and the maps which groups exist. And the other way
// round: finding both from the pages when a session ended before it could say so.

import DataProtection
import Glibc
import Platform
import SandboxModel

extension EncryptedFile {
    /// Makes header and maps say what is so. The caller holds the lock exclusively.
    func commitStructure(_ workspace: Workspace) throws(Fault) {
        let file = self.file
        let before = try onHost { () throws(SystemError) in try file.descriptor.status() }
        var holes = header.isSparse
        if !holes, hasGap { holes = try findHole(workspace) }
        if holes {
            try writeFirstGroups(workspace)
            try writeMaps(workspace)
        }
        header.length = contentLength
        header.isSparse = holes
        header.isOpen = false
        try writePage(header, workspace)
        addedGroups = []
        hasGap = false
        wasExtended = false
        if holes { recountSpace() }
        try putBack(before, modification: keptModificationTime ?? before.modificationTime)
    }

    /// The application did not write now: its set-user-ID and set-group-ID bits and the time of its last write stay.
    func putBack(_ before: FileStatus, modification: timespec) throws(Fault) {
        let file = self.file
        try onHost { () throws(SystemError) in
            if before.mode & 0o6000 != 0 {
                try SetIDCapability.raised { () throws(SystemError) in
                    try file.descriptor.changeMode(before.permissions)
                }
            }
            try file.descriptor.changeTimes(access: before.raw.st_atim, modification: modification)
        }
    }

    private func findHole(_ workspace: Workspace) throws(Fault) -> Bool {
        for group in 0...ContentLayout.lastGroup(length: contentLength) {
            guard let page = try tagPage(group, workspace) else { return true }
            let base = Int64(group) * Int64(ContentLayout.blocksPerGroup)
            let used = Int(min(blockCount - base, Int64(ContentLayout.blocksPerGroup)))
            for index in 0..<max(used, 0) where page.current(index).length == 0 { return true }
        }
        return false
    }

    /// Gives tags to the first group that each map covers, which lies before its map and is always there.
    private func writeFirstGroups(_ workspace: Workspace) throws(Fault) {
        let last = ContentLayout.lastGroup(length: contentLength)
        for group in stride(from: 0, through: last, by: ContentLayout.groupsPerMap)
        where try !groupExists(group, workspace) {
            let page = cache.blank(for: group)
            page.reset(.tags, number: group)
            try writePage(page, workspace)
            cache.insert(page)
            addedGroups.insert(group)
        }
    }

    /// Brings the maps up to date: all of them when the file had no holes before, else those of the groups added,
    /// and those that may still name groups which were cut off before the content grew again.
    private func writeMaps(_ workspace: Workspace) throws(Fault) {
        let last = ContentLayout.lastGroup(length: contentLength)
        let known = ContentLayout.lastGroup(length: min(contentLength, header.length))
        var changed: [ContentPage] = []
        for map in 0...last / ContentLayout.groupsPerMap {
            let first = map * ContentLayout.groupsPerMap
            let groups = first + 1..<min(last + 1, first + ContentLayout.groupsPerMap)
            guard let end = groups.last else { continue }
            let isNew = !header.isSparse || !header.hasMap(map)
            if !isNew, end <= known, !addedGroups.contains(where: groups.contains) { continue }
            var existing: [Int] = []
            for group in groups where try groupExists(group, workspace) { existing.append(group) }
            if existing.isEmpty, isNew { continue }
            let page: ContentPage
            if isNew {
                page = maps.blank(for: map)
                page.reset(.map, number: map)
            } else {
                page = try mapPage(map, workspace)
                for group in groups { page.setGroup(group - first, false) }
            }
            for group in existing { page.setGroup(group - first, true) }
            changed.append(page)
        }
        guard !changed.isEmpty else { return }
        // A host that loses power writes in any order. What a map names must be there before the map, and the map
        // before a closed header: else a file that was synchronized before it was closed would not be found whole.
        try synchronizeBacking()
        for page in changed {
            try writeMap(page, workspace)
            maps.insert(page)
            header.setMap(page.number, true)
        }
        try synchronizeBacking()
    }

    private func synchronizeBacking() throws(Fault) {
        let file = self.file
        try onHost { () throws(SystemError) in try file.descriptor.synchronize(dataOnly: true) }
    }

    private func writeMap(_ page: ContentPage, _ workspace: Workspace) throws(Fault) {
        seal(page, workspace)
        let file = self.file
        try onHost { () throws(SystemError) in
            try file.descriptor.write(
                from: page.bytes, count: ContentPage.size, to: ContentLayout.mapPageOffset(page.number))
        }
    }

    // MARK: After a session that ended without a shutdown

    /// Compares the backing file's length with the header's and, where a session ended in the middle of a change,
    /// finds the true one.
    ///
    /// - Throws: `corrupt` when the lengths differ and no such ending explains it: the file was cut.
    func recoverLength(backingLength: Int64, _ workspace: Workspace) throws(Fault) {
        let expected = ContentLayout.backingLength(of: header.length)
        let lostPower = context.history.lostPower(since: header.session)
        if backingLength == expected, !header.isOpen {
            // Tags of blocks that were being appended may have arrived, and neither the blocks nor the header.
            if lostPower { try clearSlotsBehindEnd(workspace) }
            return
        }
        let isExplained =
            if header.isOpen {
                // What was there before the header was opened can only be missing because the host stopped.
                backingLength >= expected || lostPower
            } else {
                lostPower || context.isUncertain(header.session)
            }
        guard isExplained, backingLength >= Int64(ContentPage.size) else { throw corrupt(.length) }
        try recover(backingLength: backingLength, workspace)
    }

    /// After a change that failed halfway: forgets what memory says and finds out from the file, as after a process
    /// that ended there. The caller holds the lock exclusively.
    func reload(after fault: Fault, _ workspace: Workspace) {
        // A block that could not be read stopped the change before anything was written.
        if fault != .corrupt { context.markDisturbed() }
        cache.removeAll()
        maps.removeAll()
        addedGroups = []
        hasGap = false
        wasExtended = false
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
        } catch {
            // The host does not even let the header be written. What memory says now is what was found.
        }
    }

    private func recover(backingLength: Int64, _ workspace: Workspace) throws(Fault) {
        needsWriter = !isWritable
        let wasOpen = header.isOpen
        let promised = header.length
        if !wasOpen, backingLength > ContentLayout.backingLength(of: promised) {
            // A truncation was under way, or a growth of which not even the announcement arrived: groups of it that did
            // are in no map, and stay holes.
            guard isWritable else { return }
            contentLength = ContentLayout.length(ofBacking: backingLength)
            try shrink(to: promised, finishing: true, workspace)
            return
        }
        contentLength = ContentLayout.length(ofBacking: backingLength)
        // The maps of a closed header name all groups that it knew.
        if wasOpen || !header.isSparse { try findGroups(workspace) }
        let found = contentLength
        // What a closed header calls sparse may end in a hole that was synchronized before a block was written there.
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

    /// Which groups are there: those whose tag page was written. What a file without holes had before it was opened
    /// must be there.
    private func findGroups(_ workspace: Workspace) throws(Fault) {
        let last = ContentLayout.lastGroup(length: contentLength)
        hasGap = true
        guard last > 0 else { return }
        let known = header.isOpen && !header.isSparse ? ContentLayout.lastGroup(length: header.length) : 0
        let probe = ContentPage()
        let file = self.file
        var group = known + 1
        while group <= last {
            let place = ContentLayout.tagPageOffset(group: group)
            // The host's own holes hold no page: of a sparse file of a terabyte they are nearly all there is.
            guard let data = try onHost({ () throws(SystemError) in try file.descriptor.nextData(from: place) })
            else { return }
            if data >= place + Int64(ContentPage.size) {
                group = max(group + 1, ContentLayout.group(atBackingOffset: data))
                continue
            }
            let got = try onHost { () throws(SystemError) in
                try file.descriptor.read(into: probe.bytes, count: ContentPage.size, from: place)
            }
            // A page of a session before the header's was being written when that one ended, and was passed over then.
            if got == ContentPage.size, !probe.isZero, probe.session >= header.session { addedGroups.insert(group) }
            group += 1
        }
    }

    /// The last block may be one that never wholly arrived: the content ends before it, or where its older seal says.
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
                // The older seal held: what the host should have written behind it did not get there.
                if lostPower, page.turnedBack >> UInt64(index) & 1 == 1 {
                    contentLength = max(start + Int64(valid), promised)
                }
                return
            } catch {
                // One that is not there at all was being appended when the host lost power. Any other may have been
                // synchronized before it was written over: it counts, and gives EIO.
                guard error == .corrupt, start >= promised, lostPower, try isMissing(block, workspace) else { return }
                contentLength = start
            }
        }
    }

    private func isMissing(_ block: Int64, _ workspace: Workspace) throws(Fault) -> Bool {
        let file = self.file
        let got = try onHost { () throws(SystemError) in
            try file.descriptor.read(
                into: workspace.block, count: ContentLayout.blockSize, from: ContentLayout.blockOffset(block))
        }
        return workspace.block.isZero(0, count: got)
    }

    /// Empties the slots of blocks that the content does not have: when it grows over them they are holes.
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
        page.clear(behind)
        if last > 0 { try writePage(page, workspace) }
    }
}
