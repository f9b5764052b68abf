// stat, and the calls that change what it shows: chmod, chown, utimensat, truncate.

import BackingStore
import Glibc
public import Platform
public import SandboxModel

extension Volume {
    /// The status of a node as the mount shows it.
    ///
    /// - Parameter handle: an open descriptor of the node, where the kernel names one.
    /// - Throws: with a handle also the error of a write that is to be refused.
    public func status(of node: NodeID, handle: FileHandle?) throws(Fault) -> FileStatus {
        if let handle {
            // The kernel names a handle when it asks before a write(2), which this error refuses. fstat(2) comes
            // without.
            try openFiles.requireContent(handle, for: .write)
            try requireSpaceToWrite(handle)
            let node = handle.node
            if node.kind == .cacheTag { return names.reading { cacheTags.status(of: node) } }
            let status = try handle.content.shownStatus()
            return names.reading { entryLocks.keepingPlace(of: node) { status.presented(of: node) } }
        }
        return try keepingPlace(of: node) { (node) throws(Fault) in try statuses.status(of: node) }
    }

    /// Changes the status, and returns the new one.
    ///
    /// - Parameter caller: nil for the kernel itself. Of a change that clears set-ID bits.
    ///
    /// Only the kernel itself changes times alone of a file that nobody can reach any more.
    /// - Throws: `refused` by the node's zone; EPERM and the like from the host.
    public func changeStatus(
        _ change: FileStatusChange, of node: NodeID, handle: FileHandle?, by caller: Caller? = nil
    ) throws(Fault) -> FileStatus {
        try keepingPlace(of: node) { (node) throws(Fault) in
            if change.mode != nil { try node.zone.permit(.changeMode) }
            if change.owner != nil || change.group != nil { try node.zone.permit(.changeOwner) }
            if change.size != nil { try node.zone.permit(.truncate) }
            // The kernel itself writes the times of a removed file down. It would report a refusal to the next caller
            // of fsync(2).
            let isRemoved = node.rare?.orphan != nil && table.location(of: node) == nil
            if change.accessTime != nil || change.modificationTime != nil, !isRemoved {
                try node.zone.permit(.changeTimes)
            }

            if handle == nil, change.isOnlyTimes, let status = statusOfRemoved(node) { return status }
            do throws(Fault) {
                return try apply(change, to: node, handle, by: caller)
            } catch {
                guard handle == nil, change.isOnlyTimes, let status = statusOfClosedOff(node, error) else {
                    throw error
                }
                return status
            }
        }
    }

    /// The caller keeps the node's place, and has asked the rules.
    private func apply(
        _ change: FileStatusChange, to node: Node, _ handle: FileHandle?, by caller: Caller?
    ) throws(Fault) -> FileStatus {
        if let size = change.size { try truncate(node, to: size, handle) }
        defer { openFiles.recordChange() }
        let place: Place =
            if let backing = handle?.content.backing { .descriptor(backing) } else {
                try openFiles.inodePlace(of: node)
            }
        var keptTime: timespec?
        // Not while a closing file writes its header and puts its mode and times back.
        try openFiles.lock(of: node).reading { () throws(Fault) in
            try onHost { () throws(SystemError) in
                if change.clearsSetIDs { try clearSetIDs(of: node, at: place, by: caller) }
                if change.owner != nil || change.group != nil || change.isEmptyOwnerChange(of: node) {
                    try changeOwner(change, of: node, at: place, by: caller)
                }
                if let mode = change.mode { try changeMode(mode & 0o7777, of: node, at: place) }
            }
            if change.accessTime != nil || change.modificationTime != nil {
                keptTime = try changeTimes(change, of: node, handle, at: place)
            }
        }
        if let keptTime, change.isOnlyTimes { return statusOfWritten(node, at: keptTime) }
        return try statuses.status(of: node)
    }

    /// The caller holds the node's open lock.
    ///
    /// The kernel names a handle when it sets the time of a write, which may wait for the close. A time that an
    /// application sets comes without a handle, and is stored before the answer.
    /// - Returns: a time that waits for the close; nil where the host has the times.
    private func changeTimes(
        _ change: FileStatusChange, of node: Node, _ handle: FileHandle?, at place: Place
    ) throws(Fault) -> timespec? {
        let openFile: EncryptedFile? = if case .encrypted(let file)? = node.open?.content { file } else { nil }
        if let openFile, handle != nil, node.open!.writers > 0, change.accessTime == nil,
            case .at(let time) = change.modificationTime
        {
            openFile.keep(modificationTime: time)
            return time
        }
        try onHost { () throws(SystemError) in
            try place.changeTimes(access: change.accessTime.raw, modification: change.modificationTime.raw)
        }
        if change.modificationTime != nil { openFile?.keep(modificationTime: nil) }
        return nil
    }

    /// The answer to the kernel that has sent the time of a write. It looks at nothing of that answer, so the host is
    /// not asked: that would be a call more for each file that is written.
    private func statusOfWritten(_ node: Node, at time: timespec) -> FileStatus {
        var shown = stat()
        shown.st_ino = ino_t(node.inode)
        shown.st_mode = S_IFREG
        shown.st_nlink = 1
        shown.st_mtim = time
        shown.st_ctim = time
        return FileStatus(shown)
    }

    /// The status of a file that was removed and that nobody has open.
    ///
    /// The kernel writes the times of every file that it sees removed, and no call asks for them again.
    private func statusOfRemoved(_ node: Node) -> FileStatus? {
        // The file may have had another name, which the kernel has learned since.
        guard let status = node.rare?.lastStatus, status.linkCount <= 1, table.location(of: node) == nil,
            openFiles.lock(of: node).reading({ node.open == nil })
        else { return nil }
        var shown = status.presented(zone: node.zone, home: node.home).raw
        shown.st_nlink = 0
        return FileStatus(shown)
    }

    /// The status of a file whose directories are all closed to the daemon's own user, or that was purged, and that
    /// nobody has open.
    ///
    /// Only the kernel itself asks here, with times to write down: it lets no application past such a directory. It
    /// does not keep the answer, but would report a refusal as EIO to the next process that opens the file.
    private func statusOfClosedOff(_ node: Node, _ fault: Fault) -> FileStatus? {
        let isPurged = fault == .system(.stale) && table.location(of: node) == nil
        guard isPurged || fault == .system(.accessDenied) && !places.credentials.isSuperuser, node.kind == .file else {
            return nil
        }
        var shown = stat()
        shown.st_ino = ino_t(node.inode)
        shown.st_mode = S_IFREG
        shown.st_nlink = isPurged ? 0 : 1
        return FileStatus(shown)
    }

    private func truncate(_ node: Node, to size: Int64, _ handle: FileHandle?) throws(Fault) {
        guard node.kind == .file else { throw .system(node.isDirectory ? .isDirectory : .invalid) }
        if let handle, handle.canWrite {
            try openFiles.requireContent(handle, for: .truncate)
            guard case .encrypted(let file) = handle.content else { throw .system(.badDescriptor) }
            return try file.truncate(to: size)
        }
        let open = try openFiles.open(node, writing: true)
        defer { openFiles.close(node, writing: true) }
        guard case .encrypted(let file) = open else { throw .system(.badDescriptor) }
        try file.truncate(to: size)
    }
}
