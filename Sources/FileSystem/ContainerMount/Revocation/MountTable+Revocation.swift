// Removes file content from the kernel's page cache when the device locks or restarts.
//
// FUSE has no single call for it. Each step waits for the one before:
// 1. No file is opened and no write begins: the lock state refuses it, and every request begun before is over.
// 2. The kernel writes dirty pages out, and forgets file status, so that it asks before the next write.
// 3. The writes under way end, or time out, and the kernel writes out their pages.
// 4. Reads are refused, and the kernel drops the content: it has no page, and gets none.
// 5. The keys are destroyed, and every request that held content is over and wiped.
//
// The kernel drops pages one by one, and writes dirty ones out as it goes. In a file that is still being written it
// would chase the writer. So such a file is dropped later, when its writes are refused.

public import BackingStore
import ContainerVolume
import FuseBridge
import Glibc
import Platform

/// A file whose content the kernel must drop, and its superblock.
struct RevokedFile: Sendable {
    let superblock: Superblock
    let file: CachedFile
}

extension MountTable {
    /// The longest wait for a write(2) under way.
    private static let patience = Duration.seconds(5)

    /// Removes the content of files that locking protects, then destroys their keys.
    ///
    /// - Parameters:
    ///   - openFiles: the device's open files; its lock state refuses new opens and writes already.
    ///   - takeKeys: destroys the class keys. Called when the kernel has nothing left to write.
    public func lock(_ openFiles: OpenFileRegistry, takeKeys: () -> Void) {
        // No superblock is made or ends meanwhile.
        changing {
            let superblocks = superblocks
            for superblock in superblocks {
                superblock.session.quiesce()
                superblock.writeOut()
            }
            let files = superblocks.flatMap { superblock in
                superblock.volume.filesToLock.map { RevokedFile(superblock: superblock, file: $0) }
            }
            // The rest of step 2, and step 3.
            let writes = finishWrites(in: files, superblocks)
            // Step 4. A file that is still being written is dropped below, when its writes are refused.
            openFiles.refuseReading()
            RevokedFile.drop(files.filter { !writes.goOn(in: $0) })
            // Step 5.
            openFiles.close()
            takeKeys()
            writes.dropWritten()
            for superblock in superblocks {
                superblock.session.quiesce()
                superblock.session.wipeRequests()
            }
            follow(writes, of: files, while: { openFiles.isClosed })
        }
    }

    /// Writes everything out, removes the content of all open files, and gives each file a new node.
    ///
    /// - Parameter retire: destroys the keys, of open files too. Nothing is opened meanwhile.
    public func restart(retire: () -> Void) {
        changing {
            let superblocks = superblocks
            for superblock in superblocks {
                superblock.volume.beginRestart()
                superblock.session.quiesce()
                superblock.writeOut()
            }
            let files = superblocks.flatMap(\.openFiles)
            let writes = finishWrites(in: files, superblocks)
            RevokedFile.drop(files.filter { !writes.goOn(in: $0) })
            leaveFilesBehind(superblocks.map(\.volume)[...], retire)
            // Includes files opened since the first pass.
            let left = superblocks.flatMap(\.openFiles)
            for superblock in superblocks { superblock.volume.forgetFilesLeftBehind() }
            RevokedFile.drop(left.filter { !writes.goOn(in: $0) })
            writes.dropWritten()
            for superblock in superblocks {
                superblock.session.notifications.drain()
                superblock.volume.endRestart()
                superblock.session.quiesce()
                superblock.session.wipeRequests()
            }
            follow(writes, of: files, while: { false })
        }
    }

    /// Removes all content from the kernel before the superblocks end, so that files still open have no page left.
    func dropAll() {
        let superblocks = superblocks
        for superblock in superblocks {
            superblock.volume.beginRestart()
            superblock.session.quiesce()
            superblock.writeOut()
        }
        RevokedFile.drop(superblocks.flatMap(\.openFiles))
    }

    /// Replaces the nodes of all volumes while each holds its lock, because a group's file is visible in several.
    private func leaveFilesBehind(_ volumes: ArraySlice<Volume>, _ retire: () -> Void) {
        guard let first = volumes.first else { return retire() }
        first.leaveFilesBehind { leaveFilesBehind(volumes.dropFirst(), retire) }
    }

    /// Waits for the writes under way, and has the kernel write their pages out.
    private func finishWrites(in files: [RevokedFile], _ superblocks: [Superblock]) -> UnfinishedWrites {
        RevokedFile.forgetStatus(of: files)
        for superblock in superblocks { superblock.volume.openAliases() }
        let barrier = WriteBarrier(files)
        let unfinished = barrier.wait(atMost: MountTable.patience)
        for superblock in superblocks {
            superblock.volume.closeAliases()
            superblock.writeOut()
        }
        return UnfinishedWrites(barrier, unfinished)
    }

    /// Drops the pages of unfinished writes until they end, then reports lost ranges.
    ///
    /// For a file that the barrier could not reach, writes may be under way: it is treated so as long as it is open for
    /// writing and the device is locked.
    private func follow(
        _ writes: UnfinishedWrites, of files: [RevokedFile], while isLocked: @escaping @Sendable () -> Bool
    ) {
        let written = files.filter(\.file.mayBeWritten)
        guard !writes.isEmpty else { return RevokedFile.reportLoss(of: written) }
        let thread = try? HostThread(name: "dropping") {
            while true {
                let open = writes.unknown.filter(\.mayBeWritten)
                let isOver = writes.barrier.isOver
                RevokedFile.drop(writes.files + open)
                if isOver, open.isEmpty || !isLocked() { break }
                usleep(isOver ? 5000 : 200)
            }
            RevokedFile.reportLoss(of: written)
        }
        if let thread { thread.detach() } else { RevokedFile.reportLoss(of: written) }
    }
}

extension Superblock {
    fileprivate var openFiles: [RevokedFile] {
        volume.filesInUse.map { RevokedFile(superblock: self, file: $0) }
    }
}

extension RevokedFile {
    /// Whether a write(2) to the file may be under way.
    fileprivate var mayBeWritten: Bool { superblock.volume.mayBeWritten(file.node) }

    fileprivate func isSame(as other: RevokedFile) -> Bool {
        file.node == other.file.node && superblock.session === other.superblock.session
    }

    /// Has the kernel write out and forget content and status, and waits for it.
    fileprivate static func drop(_ files: [RevokedFile]) {
        for revoked in files { revoked.forgetContent() }
        drain(files)
    }

    /// Has the kernel forget the status, and waits for it.
    fileprivate static func forgetStatus(of files: [RevokedFile]) {
        for revoked in files { revoked.forgetContent(from: -1) }
        drain(files)
    }

    fileprivate func forgetContent(from offset: Int64 = 0, count: Int64 = 0) {
        superblock.session.notifications.forgetContent(of: KernelNode(file.node), offset: offset, count: count)
    }

    fileprivate static func drain(_ files: [RevokedFile]) {
        var sessions: [ObjectIdentifier: Session] = [:]
        for revoked in files { sessions[ObjectIdentifier(revoked.superblock.session)] = revoked.superblock.session }
        // Not for names, which a process in the mount can hold up: it could keep the keys in memory.
        for session in sessions.values { session.notifications.drainContent() }
    }

    /// Reports the lost ranges of files that are open; those of closed files were reported at close.
    fileprivate static func reportLoss(of files: [RevokedFile]) {
        for revoked in files { revoked.superblock.volume.reportLoss(of: revoked.file.node) }
    }
}

/// The writes that timed out, and the sizes of their files after the pages written so far reached the volume.
private struct UnfinishedWrites {
    let barrier: WriteBarrier
    let unknown: [RevokedFile]
    /// The files, with their sizes in bytes.
    private let waiting: [(file: RevokedFile, size: Int64)]

    init(_ barrier: WriteBarrier, _ unfinished: WriteBarrier.Unfinished) {
        self.barrier = barrier
        unknown = unfinished.unknown
        waiting = unfinished.waiting.map { revoked in
            (revoked, (try? revoked.superblock.volume.status(of: revoked.file.node, handle: nil).size) ?? 0)
        }
    }

    var isEmpty: Bool { waiting.isEmpty && unknown.isEmpty }
    /// The files whose writes have timed out.
    var files: [RevokedFile] { waiting.map(\.file) }

    /// Whether a write to the file has timed out, and may go on.
    func goOn(in revoked: RevokedFile) -> Bool { waiting.contains { $0.file.isSame(as: revoked) } }

    /// Drops the pages up to that size, not beyond, so that this does not chase the writer.
    func dropWritten() {
        for (file, size) in waiting { file.forgetContent(count: max(size, 1)) }
        RevokedFile.drain(files)
    }
}
