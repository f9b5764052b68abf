// The space that entries take, counted as calls make, change and remove them. Content is counted by `EncryptedFile`.

import BackingStore
import Platform
import SandboxModel

/// Counts entries in the device's space ledger.
///
/// Lock rule: it has no state of its own. It takes a node's open lock, so the caller may hold `names` and locks of
/// entries, but no open lock.
struct SpaceAccounting {
    let space: SpaceLedger
    let openFiles: OpenFileTable

    /// An entry was made that holds no content yet.
    func recordNew(_ status: FileStatus) {
        space.recount(status.inode, from: 0, to: space.weights.bytes(status))
    }

    /// A name was removed. The caller holds the lock of the file's place exclusively, or `names`, so that the file is
    /// not opened meanwhile.
    func recordRemoval(_ removed: RemovedName) {
        let status = removed.status
        if status.kind != .directory, status.linkCount > 1 { return }
        // An open file takes its space until it is closed.
        if let node = removed.node, openFiles.recordRemoval(of: node) { return }
        // It may have been written to, and closed, since it was looked at.
        let last = removed.isSettled ? status : (try? removed.descriptor.descriptor.status()) ?? status
        space.recount(status.inode, from: space.weights.bytes(last), to: 0)
    }

    /// An entry came to another place: a count of the whole tree that is under way may have passed there.
    func recordMove(_ status: FileStatus, to name: FileName, in directory: SharedDescriptor) {
        space.recordMove(status) {
            guard let moved = try? directory.descriptor.openDirectory(name) else { return nil }
            return SharedDescriptor(moved)
        }
    }

    /// Changes a file's extended attributes, for which the host may take a block.
    func changingAttributes(
        of node: Node, at place: Place, _ body: () throws(SystemError) -> Void
    ) throws(SystemError) {
        guard node.kind == .file else { return try body() }
        defer { openFiles.recordChange() }
        // The file is neither opened nor closed meanwhile.
        try openFiles.lock(of: node).reading { () throws(SystemError) in
            if case .encrypted(let file)? = node.open?.content {
                try body()
                file.countSpace()
                return
            }
            let before = try place.status()
            defer {
                if !node.isNameless, let after = try? place.status() {
                    space.recount(after.inode, from: space.weights.bytes(before), to: space.weights.bytes(after))
                }
            }
            try body()
        }
    }
}

extension SpaceLedger {
    /// The number of times a call is tried again after a purge; other calls may have taken the space each time.
    static let tries = 8

    /// Makes a call that may find no space, and makes it again as long as a purge releases some. No lock is held.
    ///
    /// - Parameter bytes: the space that the call takes, roughly.
    /// - Throws: as `body` does; ENOSPC when nothing more can be purged.
    func retrying<Result>(for bytes: Int64 = 4096, _ body: () throws(Fault) -> Result) throws(Fault) -> Result {
        for _ in 0..<SpaceLedger.tries {
            do throws(Fault) {
                return try body()
            } catch {
                guard error == .system(.noSpace), purge(for: bytes) else { throw error }
            }
        }
        return try body()
    }

    /// - Returns: whether the call is worth trying again. No lock is held.
    func purge(for bytes: Int64) -> Bool { reliever?.makeSpace(for: bytes) ?? false }
}
