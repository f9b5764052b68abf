// Waiting for the write(2) calls that are under way when the device locks.
//
// The kernel asks whether a file may be written at the beginning of a write(2), and not again: one that is under way
// goes on dirtying pages after they were invalidated. But it holds the inode's lock from its beginning to its end, and
// setting an extended attribute takes that lock before anything else is looked at.

import ContainerVolume
import Glibc
import Platform
import SandboxModel

/// Calls on files through the mount, each of which returns when no write to its file is under way any more.
final class WriteBarrier: Sendable {
    struct Call: Sendable {
        let file: RevokedFile
        /// The mount's root.
        let root: SharedDescriptor
        /// The name at the root by which the file is reached.
        let name: FileName
    }

    private struct Progress {
        var waiting: [Call]
        var underWay: [NodeID: RevokedFile] = [:]
        var returned = 0
        var threads = 0
    }

    private let progress: Monitor<Progress>
    /// Files that no call can be made on: their mount is out of sight.
    let unreachable: [RevokedFile]

    /// Each call has a thread to itself for as long as a write takes.
    private static let mostThreads = 256
    private static let threadsAtFirst = 2
    /// Microseconds between two looks; a call that nothing holds up takes some forty.
    private static let lookInterval: useconds_t = 500
    /// Looks without a call that returned, after which those under way are taken to wait.
    private static let patience = 4

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
            calls.append(Call(file: revoked, root: root, name: superblock.volume.passageName(of: revoked.file.node)))
        }
        progress = Monitor(Progress(waiting: calls))
        self.unreachable = unreachable
    }

    /// Makes the calls, and waits until all have returned, for so long at most.
    /// - Returns: the files whose calls have not.
    func wait(atMost limit: Duration) -> [RevokedFile] {
        let deadline = ContinuousClock.now + limit
        for _ in 0..<WriteBarrier.threadsAtFirst { startThread() }
        var (seen, idle) = (0, 0)
        while true {
            let (isOver, returned) = progress.access { progress in
                (progress.waiting.isEmpty && progress.underWay.isEmpty, progress.returned)
            }
            if isOver { return [] }
            guard ContinuousClock.now < deadline else { break }
            idle = returned == seen ? idle + 1 : 0
            seen = returned
            if idle == WriteBarrier.patience {
                startThread()
                idle = 0
            }
            usleep(WriteBarrier.lookInterval)
        }
        return progress.access { progress in
            defer { progress.waiting = [] }
            return progress.waiting.map(\.file) + progress.underWay.values
        }
    }

    /// Waits until the calls that were begun have returned, however long that takes.
    func waitForRest() {
        progress.wait { $0.underWay.isEmpty ? () : nil }
    }

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
            // The volume refuses it, always; what matters is when.
            try? AttributeHolder(call.name, in: call.root.descriptor).set(WriteBarrier.attribute, to: [], flags: 0)
            progress.access { progress in
                progress.underWay[call.file.file.node] = nil
                progress.returned += 1
            }
        }
        progress.access { $0.threads -= 1 }
    }

    private static let attribute = Array("user.appcontainer.barrier".utf8)

    private func next() -> Call? {
        progress.access { progress in
            guard let call = progress.waiting.popLast() else { return nil }
            progress.underWay[call.file.file.node] = call.file
            return call
        }
    }
}
