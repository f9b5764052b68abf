// fsync and close: header and maps describe the content again, and the time of the last write reaches the host.

import DataProtection
public import Glibc
import Platform
public import SandboxModel

extension EncryptedFile {
    // MARK: fsync

    /// `fsync(2)`, or with `dataOnly` `fdatasync(2)`: makes everything durable that reading needs.
    /// - Throws: EIO if writeback to the host's disk failed; other errors of the host.
    public func synchronize(dataOnly: Bool) throws(Fault) {
        try commitUnsealedEnd()
        let file = lock.writing {
            syncHabit.synchronized()
            return self.file
        }
        if !dataOnly { try lock.writing { () throws(Fault) in try settleModificationTime() } }
        try onHost { () throws(SystemError) in try file.descriptor.synchronize(dataOnly: dataOnly) }
    }

    /// Writes a length that no seal proves to the header, before it is promised to be durable. Otherwise a block that
    /// is written at the end later, and lost with the power, would pass for one that was appended.
    private func commitUnsealedEnd() throws(Fault) {
        let mayEndSo = lock.reading {
            header.isOpen && (uncommitted.hasGap || uncommitted.wasExtended) && isWritable && heldKey != nil
        }
        guard mayEndSo else { return }
        try lock.writing { () throws(Fault) in
            try withWorkspace { workspace throws(Fault) in
                guard header.isOpen, heldKey != nil, try endsUnsealed(workspace) else { return }
                try change(workspace) { () throws(Fault) in try commitStructure(workspace) }
            }
        }
    }

    // MARK: close

    /// Closes the header and writes the time that was kept. Called when the last descriptor that could write is closed.
    public func commit() throws(Fault) {
        try lock.writing { () throws(Fault) in
            // A host with delayed allocation reports other blocks now.
            defer { recountSpace() }
            if keptModificationTime == nil { keptModificationTime = earlierModificationTime }
            // Without the key the header stays open: the next opening recovers the length.
            if header.isOpen, heldKey != nil {
                try withWorkspace { workspace throws(Fault) in try commitStructure(workspace) }
                context.settleLength(of: header.identity)
            } else {
                try settleModificationTime()
            }
            earlierModificationTime = keptModificationTime
            keptModificationTime = nil
            isChanged = false
        }
    }

    /// Writes maps and header so that they describe the content. The caller holds the lock exclusively.
    func commitStructure(_ workspace: Workspace) throws(Fault) {
        let file = self.file
        let before = try onHost { () throws(SystemError) in try file.descriptor.status() }
        var holes = header.isSparse
        if !holes, uncommitted.hasGap { holes = try findHole(workspace) }
        if holes {
            try writeFirstGroups(workspace)
            try writeMaps(workspace)
        }
        header.length = contentLength
        header.isSparse = holes
        header.isOpen = false
        try writePage(header, workspace)
        uncommitted = UncommittedStructure()
        if holes { recountSpace() }
        try restoreStatus(before, modification: keptModificationTime ?? before.modificationTime)
    }

    /// Restores the times after a write that is not the application's.
    func restoreStatus(_ before: FileStatus, modification: timespec) throws(Fault) {
        let file = self.file
        try onHost { () throws(SystemError) in
            try file.descriptor.changeTimes(access: before.raw.st_atim, modification: modification)
        }
    }

    /// Whether a block below the length has no seal.
    private func findHole(_ workspace: Workspace) throws(Fault) -> Bool {
        for group in 0...ContentLayout.lastGroup(length: contentLength) {
            guard let page = try tagPage(group, workspace) else { return true }
            let base = Int64(group) * Int64(ContentLayout.blocksPerGroup)
            let used = Int(min(blockCount - base, Int64(ContentLayout.blocksPerGroup)))
            for index in 0..<max(used, 0) where page.current(index).length == 0 { return true }
        }
        return false
    }

    /// Writes missing tag pages of the first group of each map. It lies before its map, so no map can name it.
    private func writeFirstGroups(_ workspace: Workspace) throws(Fault) {
        let last = ContentLayout.lastGroup(length: contentLength)
        for group in stride(from: 0, through: last, by: ContentLayout.groupsPerMap)
        where try !groupExists(group, workspace) {
            let page = cache.blank(for: group)
            page.reset(.tags, number: group)
            try writePage(page, workspace)
            cache.insert(page)
            uncommitted.addedGroups.insert(group)
        }
    }

    /// Updates the maps: all of them for a file that had no holes before; else those of added groups, and those that
    /// may still name groups from before a truncation.
    private func writeMaps(_ workspace: Workspace) throws(Fault) {
        let last = ContentLayout.lastGroup(length: contentLength)
        let known = ContentLayout.lastGroup(length: min(contentLength, header.length))
        var changed: [ContentPage] = []
        for map in 0...last / ContentLayout.groupsPerMap {
            let first = map * ContentLayout.groupsPerMap
            let groups = first + 1..<min(last + 1, first + ContentLayout.groupsPerMap)
            guard let end = groups.last, !isUnused(map: map) else { continue }
            let isNew = !header.isSparse || !header.hasMap(map)
            if !isNew, end <= known, !uncommitted.addedGroups.contains(where: groups.contains) { continue }
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
        // A host that loses power writes in any order. The groups must be durable before the map that names them, and
        // the map before the closed header: else a file that was synchronized earlier would lose blocks by being
        // closed.
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

    /// Seals a map page and writes it to its place.
    private func writeMap(_ page: ContentPage, _ workspace: Workspace) throws(Fault) {
        seal(page, workspace)
        let file = self.file
        try onHost { () throws(SystemError) in
            try file.descriptor.write(
                from: page.bytes, count: ContentPage.size, to: ContentLayout.mapPageOffset(page.number))
        }
    }

    // MARK: The time of the last write

    /// Keeps the time of the last write until the file is closed or wholly synchronized; nil if the host has it.
    ///
    /// The kernel sends the time before each fdatasync(2). Passing it on at once makes ext4 commit its journal, which
    /// takes a third longer than the data alone.
    /// - Parameter isOnHost: whether the host has that time, as of a file that was just created.
    public func keep(modificationTime: timespec?, isOnHost: Bool = false) {
        lock.writing {
            // After a restart the time belongs to the processes that have opened the file since.
            guard access != .retired else { return }
            keptModificationTime = modificationTime
            if modificationTime == nil || isOnHost { earlierModificationTime = modificationTime }
        }
    }

    /// The time of the last write, if the host does not have it yet.
    public var modificationTime: timespec? { lock.reading { pendingModificationTime } }

    /// The time of the last write, whether the host has it or not. A close that is under way has put it back by then.
    public func timeOfLastWrite() throws(Fault) -> timespec {
        try lock.reading { () throws(Fault) in
            if let time = pendingModificationTime { return time }
            let file = self.file
            return try onHost { () throws(SystemError) in try file.descriptor.status() }.modificationTime
        }
    }

    /// The time that the next close gives the host. The caller holds the lock.
    private var pendingModificationTime: timespec? {
        keptModificationTime ?? (isChanged ? earlierModificationTime : nil)
    }

    /// Passes the kept time to the host, unless it has that one: setting an equal one would change the time of change.
    /// The caller holds the lock exclusively, so that a later time cannot overtake it.
    func settleModificationTime() throws(Fault) {
        guard let time = keptModificationTime else { return }
        let file = self.file
        try onHost { () throws(SystemError) in
            // Content that was changed has given the host another time: it need not be asked.
            if !isChanged {
                let present =
                    if let earlierModificationTime { earlierModificationTime } else {
                        try file.descriptor.status().modificationTime
                    }
                if present.tv_sec == time.tv_sec, present.tv_nsec == time.tv_nsec { return }
            }
            try file.descriptor.changeTimes(access: .unchanged, modification: time)
        }
        earlierModificationTime = time
        isChanged = false
    }
}
