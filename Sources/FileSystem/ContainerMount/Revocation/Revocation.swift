// Taking content away from the kernel: what `lock` and `restart` do to the mounts of a device.
//
// The order, each step after the one before has been obeyed (FUSE has no single call for it):
// 1. nothing new is opened, and nothing begins to be written: the state says so, and every request that was begun under
//    the old one is over;
// 2. the kernel writes out what it holds, and forgets the attributes, so that it asks before the next write;
// 3. the writes that are under way end, or have had their time, and the kernel writes out what they brought;
// 4. nothing is read any more, and the kernel forgets the content: now it has no page, and gets none;
// 5. the keys go, and every request that had bytes in its hands is over.
//
// The kernel forgets page by page, and writes out those that are dirty one by one: in a file that is still being written
// it would go after the writer for as long as he writes. Such a file has its turn when what he writes is refused.

public import BackingStore
import ContainerVolume
import FuseBridge
import Glibc
import Platform

/// A file from which its content is taken, and the superblock in which the kernel knows it.
struct RevokedFile: Sendable {
    let superblock: Superblock
    let file: CachedFile
}

extension MountTable {
    /// How long a write(2) that is under way is waited for.
    private static let patience = Duration.seconds(5)

    /// Takes the content of class A away. Its keys go when the kernel has nothing left to write.
    ///
    /// - Parameters:
    ///   - content: of the device; its state allows nothing new already.
    ///   - takeKeys: takes the class keys away.
    public func lock(_ content: OpenContent, takeKeys: () -> Void) {
        // No superblock comes or goes meanwhile.
        changing {
            let superblocks = superblocks
            for superblock in superblocks {
                superblock.session.quiesce()
                superblock.writeOut()
            }
            let files = superblocks.flatMap { superblock in
                superblock.volume.filesToLock.map { RevokedFile(superblock: superblock, file: $0) }
            }
            let writes = finishWrites(in: files, superblocks)
            content.refuseReading()
            RevokedFile.drop(files.filter { !writes.goOn(in: $0) })
            content.close()
            takeKeys()
            writes.dropWritten()
            for superblock in superblocks {
                superblock.session.quiesce()
                superblock.session.wipeRequests()
            }
            follow(writes, of: files, while: { content.isClosed })
        }
    }

    /// Writes everything out, takes all content away from what is open, and makes each file a new node.
    ///
    /// - Parameter retire: takes the keys away, those of open files too; nothing is opened meanwhile.
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
            // What was opened since is among them now.
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

    /// Takes all content from the kernel before the superblocks end: what is still open then has no page left.
    func dropAll() {
        let superblocks = superblocks
        for superblock in superblocks {
            superblock.volume.beginRestart()
            superblock.session.quiesce()
            superblock.writeOut()
        }
        RevokedFile.drop(superblocks.flatMap(\.openFiles))
    }

    /// All volumes at one instant: a file of a group is seen through any of them.
    private func leaveFilesBehind(_ volumes: ArraySlice<Volume>, _ retire: () -> Void) {
        guard let first = volumes.first else { return retire() }
        first.leaveFilesBehind { leaveFilesBehind(volumes.dropFirst(), retire) }
    }

    /// Waits for the writes under way, and has the kernel write out what they brought.
    private func finishWrites(in files: [RevokedFile], _ superblocks: [Superblock]) -> UnfinishedWrites {
        RevokedFile.forgetAttributes(of: files)
        for superblock in superblocks { superblock.volume.openPassage() }
        let barrier = WriteBarrier(files)
        let unfinished = barrier.wait(atMost: MountTable.patience)
        for superblock in superblocks {
            superblock.volume.closePassage()
            superblock.writeOut()
        }
        return UnfinishedWrites(barrier, unfinished)
    }

    /// Drops the pages that writes still bring, until they have ended, and tells what was lost.
    ///
    /// Of a file that cannot be asked nobody knows whether it is being written: as long as it is open for that, and the
    /// device locked, it is treated as if it were.
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
        volume.openFiles.map { RevokedFile(superblock: self, file: $0) }
    }
}

extension RevokedFile {
    fileprivate var mayBeWritten: Bool { superblock.volume.mayBeWritten(file.node) }

    fileprivate func isSame(as other: RevokedFile) -> Bool {
        file.node == other.file.node && superblock.session === other.superblock.session
    }

    /// Has the kernel write out and forget what it holds, attributes included. Returns when it has obeyed.
    fileprivate static func drop(_ files: [RevokedFile]) {
        for revoked in files { revoked.forgetContent() }
        drain(files)
    }

    /// Has the kernel ask for attributes again. Returns when it has obeyed.
    fileprivate static func forgetAttributes(of files: [RevokedFile]) {
        for revoked in files { revoked.forgetContent(from: -1) }
        drain(files)
    }

    fileprivate func forgetContent(from offset: Int64 = 0, count: Int64 = 0) {
        superblock.session.notifications.forgetContent(of: KernelNode(file.node), offset: offset, count: count)
    }

    fileprivate static func drain(_ files: [RevokedFile]) {
        var sessions: [ObjectIdentifier: Session] = [:]
        for revoked in files { sessions[ObjectIdentifier(revoked.superblock.session)] = revoked.superblock.session }
        for session in sessions.values { session.notifications.drain() }
    }

    /// Tells what is known to be lost of files that are open; of those that were closed it was told then.
    fileprivate static func reportLoss(of files: [RevokedFile]) {
        for revoked in files { revoked.superblock.volume.tellLoss(of: revoked.file.node) }
    }
}

/// The writes that had not ended in time, when the kernel had written out what they had brought by then.
private struct UnfinishedWrites {
    let barrier: WriteBarrier
    let unknown: [RevokedFile]
    /// The files, and how many bytes each of them had.
    private let waiting: [(file: RevokedFile, size: Int64)]

    init(_ barrier: WriteBarrier, _ unfinished: WriteBarrier.Unfinished) {
        self.barrier = barrier
        unknown = unfinished.unknown
        waiting = unfinished.waiting.map { revoked in
            (revoked, (try? revoked.superblock.volume.status(of: revoked.file.node, handle: nil).size) ?? 0)
        }
    }

    var isEmpty: Bool { waiting.isEmpty && unknown.isEmpty }
    var files: [RevokedFile] { waiting.map(\.file) }

    func goOn(in revoked: RevokedFile) -> Bool { waiting.contains { $0.file.isSame(as: revoked) } }

    /// Takes away what was there by then. The writer is left to himself, so that this ends before he does.
    func dropWritten() {
        for (file, size) in waiting { file.forgetContent(count: max(size, 1)) }
        RevokedFile.drain(files)
    }
}
