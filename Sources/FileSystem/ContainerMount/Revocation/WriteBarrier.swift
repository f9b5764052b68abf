// Waiting for the write(2) calls that are under way when the device locks.
//
// The kernel asks whether a file may be written at the beginning of a write(2), and not again: one that is under way
// goes on dirtying pages after they were invalidated. But it holds the inode's lock from its beginning to its end: a
// call that takes that lock returns after it. Between question and lock it may wait for its turn, though, for as long as
// the processors are busy: so who comes to the lock is asked once more, and the barrier sees to it that the kernel asks.

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel

/// Calls on files through the mount, each of which returns when no write to its file is under way any more.
final class WriteBarrier: Sendable {
    struct Call: Sendable {
        /// Tells calls apart: files of two superblocks may have the same number.
        let serial: Int
        let file: RevokedFile
        /// The mount's root.
        let root: SharedDescriptor
    }

    private struct Progress {
        var waiting: [Call]
        var underWay: [Int: RevokedFile] = [:]
        var failed: [RevokedFile] = []
        var returned = 0
        var threads = 0
    }

    /// Files whose writes have not ended in time.
    struct Unfinished {
        /// Their calls have not returned.
        var waiting: [RevokedFile] = []
        /// No call came to the lock: their mount is out of sight or read-only, or no thread was to be had.
        var unknown: [RevokedFile] = []

        var isEmpty: Bool { waiting.isEmpty && unknown.isEmpty }
    }

    private let progress: Monitor<Progress>
    private let unreachable: [RevokedFile]

    /// Each call has a thread to itself for as long as a write takes.
    private static let mostThreads = 256
    private static let threadsAtFirst = 6
    /// Microseconds between two looks; a call that nothing holds up takes some forty.
    private static let lookInterval: useconds_t = 500
    /// Looks without a call that returned, after which those under way are taken to wait.
    private static let idleLooks = 4

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

    /// Makes the calls, and waits until all have returned, for so long at most.
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

    /// Whether the calls that were begun have returned.
    var isOver: Bool { progress.access { $0.underWay.isEmpty } }

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
            let hasPassed = call.make()
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
    /// Returns when no write to the file is under way, and none that the kernel has allowed before can begin.
    ///
    /// Whoever has had the inode's lock before has left it then; and as the kernel has heard of the file's attributes in
    /// between, whoever has it from then on asks once more (``VolumeFileSystem/extendedAttribute(_:of:reply:)``).
    /// - Returns: whether that is so; not where the kernel did not let the call come to the lock.
    fileprivate func make() -> Bool {
        do throws(SystemError) {
            let opened = try open()
            let holder = AttributeHolder(file: opened)
            guard pass(holder) else { return false }
            try opened.refreshAttributes()
            return pass(holder)
        } catch {
            return false
        }
    }

    /// By the file's handle, which takes a privilege, but no request; else by a name at the root, which takes a lookup.
    private func open() throws(SystemError) -> Descriptor {
        let handle = KernelNode(file.file.node).handle(generation: file.file.generation)
        if let opened = try? handle.open(in: root.descriptor) { return opened }
        return try root.descriptor.openNode(file.superblock.volume.passageName(of: file.file.node))
    }

    private func pass(_ file: AttributeHolder) -> Bool {
        if file.passInodeLock() { return true }
        // The volume refuses it, always; what matters is when.
        do throws(SystemError) {
            try file.set(WriteBarrier.Call.attribute, to: [])
            return false
        } catch {
            return error == .notPermitted
        }
    }

    private static let attribute = Array("user.appcontainer.barrier".utf8)
}
