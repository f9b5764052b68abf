// Taking content away from the kernel: what `lock` and `restart` do to the mounts of a device.
//
// The order, each step after the one before has been obeyed (FUSE has no single call for it):
// 1. nothing new is opened, and nothing begins to be written: the state says so, and every request that was begun under
//    the old one is over;
// 2. the kernel writes out what it holds, and forgets it, attributes included, so that it asks before the next write;
// 3. the writes that are under way end, or have had their time;
// 4. nothing is read any more, and the kernel writes out and forgets once more: now it has no page, and gets none;
// 5. the keys go, and every request that had bytes in its hands is over.

public import BackingStore
public import ContainerVolume
import FuseBridge
import Glibc
import Platform

/// A file from which its content is taken, and the superblock in which the kernel knows it.
struct RevokedFile: Sendable {
    let superblock: Superblock
    let file: CachedFile
}

/// A range of a file that an application wrote while the device locked, and that was refused.
public struct LostRange: Sendable {
    public let place: Whereabouts
    public let range: Range<Int64>
}

extension MountTable {
    /// How long a write(2) that is under way is waited for.
    private static let patience = Duration.seconds(5)

    /// Takes the content of class A away. Its keys go when the kernel has nothing left to write.
    ///
    /// - Parameters:
    ///   - content: of the device; its state allows nothing new already.
    ///   - takeKeys: takes the class keys away.
    ///   - lost: told of each range that was refused, when the write has ended that it is a part of.
    public func lock(
        _ content: OpenContent, takeKeys: () -> Void, lost: @escaping @Sendable (LostRange) -> Void
    ) {
        let superblocks = superblocks
        for superblock in superblocks {
            superblock.session.quiesce()
            superblock.writeOut()
        }
        let files = superblocks.flatMap { superblock in
            superblock.volume.filesToLock.map { RevokedFile(superblock: superblock, file: $0) }
        }
        let (barrier, unfinished) = settle(files, superblocks)
        content.refuseReading()
        RevokedFile.drop(files)
        content.close()
        takeKeys()
        for superblock in superblocks { superblock.session.quiesce() }
        follow(unfinished, barrier, all: files, while: { content.isClosed }, lost)
    }

    /// Writes everything out, takes all content away from what is open, and makes each file a new node.
    ///
    /// - Parameters:
    ///   - retire: takes the keys away, those of open files too; nothing is opened meanwhile.
    ///   - lost: as for ``lock(_:takeKeys:lost:)``.
    public func restart(retire: () -> Void, lost: @escaping @Sendable (LostRange) -> Void) {
        let superblocks = superblocks
        for superblock in superblocks {
            superblock.volume.beginRestart()
            superblock.session.quiesce()
            superblock.writeOut()
        }
        let files = superblocks.flatMap { superblock in
            superblock.volume.openFiles.map { RevokedFile(superblock: superblock, file: $0) }
        }
        let (barrier, unfinished) = settle(files, superblocks)
        RevokedFile.drop(files)
        leaveFilesBehind(superblocks.map(\.volume)[...], retire)
        // What was opened since is among them now.
        let left = superblocks.flatMap { superblock in
            superblock.volume.openFiles.map { RevokedFile(superblock: superblock, file: $0) }
        }
        for superblock in superblocks { superblock.volume.forgetFilesLeftBehind() }
        RevokedFile.drop(left)
        for superblock in superblocks {
            superblock.session.notifications.drain()
            superblock.volume.endRestart()
            superblock.session.quiesce()
        }
        follow(unfinished, barrier, all: files, while: { false }, lost)
    }

    /// Takes all content from the kernel before the superblocks end: what is still open then has no page left.
    func dropAll() {
        let superblocks = superblocks
        for superblock in superblocks {
            superblock.volume.beginRestart()
            superblock.session.quiesce()
            superblock.writeOut()
        }
        RevokedFile.drop(
            superblocks.flatMap { superblock in
                superblock.volume.openFiles.map { RevokedFile(superblock: superblock, file: $0) }
            })
    }

    /// All volumes at one instant: a file of a group is seen through any of them.
    private func leaveFilesBehind(_ volumes: ArraySlice<Volume>, _ retire: () -> Void) {
        guard let first = volumes.first else { return retire() }
        first.leaveFilesBehind { leaveFilesBehind(volumes.dropFirst(), retire) }
    }

    /// Has the kernel write the files out and forget them, and waits for the writes under way.
    /// - Returns: the files whose writes take too long.
    private func settle(
        _ files: [RevokedFile], _ superblocks: [Superblock]
    ) -> (WriteBarrier, [RevokedFile]) {
        RevokedFile.drop(files)
        for superblock in superblocks { superblock.volume.openPassage() }
        defer { for superblock in superblocks { superblock.volume.closePassage() } }
        let barrier = WriteBarrier(files)
        return (barrier, barrier.wait(atMost: MountTable.patience))
    }

    /// Tells what was lost; of writes that go on, when they have ended. Until then their pages are dropped as they come.
    ///
    /// Of a file that cannot be reached through the mount nobody knows whether it is being written: as long as it is
    /// open for that, and the device locked, it is treated as if it were.
    private func follow(
        _ unfinished: [RevokedFile], _ barrier: WriteBarrier, all files: [RevokedFile],
        while isLocked: @escaping @Sendable () -> Bool, _ lost: @escaping @Sendable (LostRange) -> Void
    ) {
        guard !unfinished.isEmpty || !barrier.unreachable.isEmpty else { return RevokedFile.tellLoss(of: files, lost) }
        let thread = try? HostThread(name: "dropping") {
            while true {
                let open = barrier.unreachable.filter { $0.superblock.volume.mayBeWritten($0.file.node) }
                let isOver = barrier.isOver
                RevokedFile.drop(unfinished + open)
                if isOver, open.isEmpty || !isLocked() { break }
                usleep(isOver ? 5000 : 200)
            }
            RevokedFile.tellLoss(of: files, lost)
        }
        thread?.detach()
    }
}

extension RevokedFile {
    /// Has the kernel write out and forget what it holds, attributes included. Returns when it has obeyed.
    fileprivate static func drop(_ files: [RevokedFile]) {
        var sessions: [ObjectIdentifier: Session] = [:]
        for revoked in files {
            let session = revoked.superblock.session
            session.notifications.forgetContent(of: KernelNode(revoked.file.node))
            sessions[ObjectIdentifier(session)] = session
        }
        for session in sessions.values { session.notifications.drain() }
    }

    fileprivate static func tellLoss(of files: [RevokedFile], _ lost: (LostRange) -> Void) {
        for revoked in files {
            guard let (place, ranges) = revoked.superblock.volume.takeLoss(of: revoked.file.node) else { continue }
            for range in ranges { lost(LostRange(place: place, range: range)) }
        }
    }
}
