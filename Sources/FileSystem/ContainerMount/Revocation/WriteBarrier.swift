// Waits for the write(2) calls that are under way when the device locks.
//
// The kernel asks whether a file may be written at the beginning of a write(2) only, so a write under way dirties pages
// even after they were invalidated. But it holds the inode lock until its end, so a call that takes that lock returns
// after it. A write may also have asked and still wait for the lock. So it is checked again under the lock
// (`security.capability`), and the barrier makes the kernel ask for that.

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel

/// Calls on files through the mount, each of which returns when no write to its file is under way.
///
/// Locks: `progress` is a leaf, held for moments.
final class WriteBarrier: Sendable {
    struct Call: Sendable {
        /// Identifies the call; files of two superblocks may have the same node number.
        let serial: Int
        let file: RevokedFile
        /// The mount's root.
        let root: SharedDescriptor
    }

    private struct Progress {
        /// Calls that no thread has begun.
        var waiting: [Call]
        /// Files of begun calls that have not returned, by serial number.
        var underWay: [Int: RevokedFile] = [:]
        /// Files whose call returned without having taken the lock.
        var failed: [RevokedFile] = []
        /// Calls that have returned, and threads that are alive.
        var returned = 0
        var threads = 0
    }

    /// Files whose writes timed out or are unknown.
    struct Unfinished {
        /// Files whose call has not returned.
        var waiting: [RevokedFile] = []
        /// Files for which no call took the lock: the mount is out of sight or read-only, or no thread could be made.
        var unknown: [RevokedFile] = []

        var isEmpty: Bool { waiting.isEmpty && unknown.isEmpty }
    }

    private let progress: Monitor<Progress>
    private let unreachable: [RevokedFile]

    /// A call blocks its thread for as long as a write takes.
    private static let mostThreads = 256
    private static let threadsAtFirst = 6
    /// Microseconds between two looks; a call that does not block takes some forty.
    private static let lookInterval: useconds_t = 500
    /// Looks without a finished call after which the threads count as blocked, and another is started.
    private static let idleLooks = 4

    /// - Parameter files: those that nobody may be writing to are passed over.
    init(_ files: [RevokedFile]) {
        var roots: [ObjectIdentifier: SharedDescriptor] = [:]
        var calls: [Call] = []
        var unreachable: [RevokedFile] = []
        for revoked in files where revoked.file.mayBeWritten {
            let superblock = revoked.superblock
            let key = ObjectIdentifier(superblock.volume)
            if roots[key] == nil { roots[key] = superblock.openRoot() }
            guard let root = roots[key] else {
                unreachable.append(revoked)
                continue
            }
            calls.append(Call(serial: calls.count, file: revoked, root: root))
        }
        progress = Monitor(Progress(waiting: calls))
        self.unreachable = unreachable
    }

    /// Makes the calls, and waits until all have returned or the limit has passed.
    func wait(atMost limit: Duration) -> Unfinished {
        let deadline = ContinuousClock.now + limit
        for _ in 0..<WriteBarrier.threadsAtFirst { startThread() }
        var (seen, idle) = (0, 0)
        while true {
            let (isOver, returned) = progress.access { progress in
                (progress.waiting.isEmpty && progress.underWay.isEmpty, progress.returned)
            }
            if isOver { return Unfinished(unknown: unreachable + progress.access { $0.failed }) }
            guard ContinuousClock.now < deadline else { break }
            idle = returned == seen ? idle + 1 : 0
            seen = returned
            if idle == WriteBarrier.idleLooks {
                startThread()
                idle = 0
            }
            usleep(WriteBarrier.lookInterval)
        }
        return progress.access { progress in
            defer { progress.waiting = [] }
            return Unfinished(
                waiting: Array(progress.underWay.values),
                unknown: unreachable + progress.failed + progress.waiting.map(\.file))
        }
    }

    /// Whether all calls begun have returned.
    var isOver: Bool { progress.access { $0.underWay.isEmpty } }

    /// Starts a thread, unless there are enough. Without one, the others make the remaining calls.
    private func startThread() {
        let mayStart = progress.access { progress in
            guard !progress.waiting.isEmpty, progress.threads < WriteBarrier.mostThreads else { return false }
            progress.threads += 1
            return true
        }
        guard mayStart else { return }
        do throws(SystemError) {
            try HostThread(name: "write-barrier") { self.makeCalls() }.detach()
        } catch {
            progress.access { $0.threads -= 1 }
        }
    }

    private func makeCalls() {
        while let call = next() {
            // A file in the mount may be closed to the user this process acts as.
            let hasPassed = ActingUser.asSuperuser { call.make() }
            progress.access { progress in
                progress.underWay[call.serial] = nil
                if !hasPassed { progress.failed.append(call.file) }
                progress.returned += 1
            }
        }
        progress.access { $0.threads -= 1 }
    }

    private func next() -> Call? {
        progress.access { progress in
            guard let call = progress.waiting.popLast() else { return nil }
            progress.underWay[call.serial] = call.file
            return call
        }
    }
}

extension WriteBarrier.Call {
    /// Returns when no write to the file is under way, and none that was allowed before can begin.
    ///
    /// It passes the inode lock twice, so earlier holders have left it. In between the kernel gets the file's status
    /// afresh, so later holders are checked again (``VolumeFileSystem/extendedAttribute(_:of:reply:)``).
    /// - Returns: false if the kernel did not let the call take the lock.
    fileprivate func make() -> Bool {
        do throws(SystemError) {
            let opened = try open()
            let holder = AttributeHolder(file: opened)
            guard pass(holder) else { return false }
            try opened.refreshStatus()
            return pass(holder)
        } catch {
            return false
        }
    }

    /// Opens by the file's handle, which needs a privilege but no request, otherwise by a name at the root.
    private func open() throws(SystemError) -> Descriptor {
        let handle = KernelNode(file.file.node).handle(generation: file.file.generation)
        if let opened = try? handle.open(in: root.descriptor) { return opened }
        return try root.descriptor.openNode(file.superblock.volume.alias(of: file.file.node))
    }

    /// Takes and releases the inode lock.
    private func pass(_ file: AttributeHolder) -> Bool {
        if file.passInodeLock() { return true }
        // The volume always refuses this attribute; the kernel sends the request under the inode lock.
        do throws(SystemError) {
            try file.set(WriteBarrier.Call.attribute, to: [])
            return false
        } catch {
            return error == .notPermitted
        }
    }

    private static let attribute = Array("user.appcontainer.barrier".utf8)
}
