// The threads of a session: their start, and the end when none of them serves any more.

import CFuse
import Glibc
import Platform
import SandboxModel
import Synchronization

extension Session {
    /// Starts the threads: for notifications, the workers, the watch for stalls, and one that ends the session.
    /// - Throws: if a thread cannot be made; the mount is removed then, and no thread is left.
    func serve(_ ended: @escaping @Sendable () -> Void) throws(SystemError) {
        var stallWatch: HostThread?
        do throws(SystemError) {
            let source = try WorkerPool(self)
            requests.withLock { $0 = source }
            try notifications.start(unsafe Connection(session: connection))
            for index in 0..<options.workers + options.reserve { try startWorker(index, source) }
            let watch = try HostThread(name: "fuse-oversight") { source.watchForStalls() }
            stallWatch = watch
            try HostThread(name: "fuse-end") {
                self.finish(joining: watch)
                if self.negotiation.isAccepted { ended() }
            }
            .detach()
        } catch {
            try? Session.unmount(path, lazily: true)
            stopWorkers { self.running.access { $0.workers == 0 } }
            finish(joining: stallWatch)
            throw error
        }
    }

    private func startWorker(_ index: Int, _ source: WorkerPool) throws(SystemError) {
        beginServing()
        do throws(SystemError) {
            let worker = try HostThread(name: "fuse-\(index)") {
                source.run(index)
                self.endServing()
            }
            workers.withLock { $0.append(worker) }
        } catch {
            endServing()
            throw error
        }
    }

    /// Counts a thread that serves requests, before it runs. The session ends when none is left.
    func beginServing() { running.access { $0.workers += 1 } }

    func endServing() { running.access { $0.workers -= 1 } }

    /// Waits until no worker is left, and joins the threads. libfuse's session is destroyed last: notifications and
    /// handles refer to it.
    private func finish(joining stallWatch: HostThread?) {
        if running.wait({ $0.hasFailed ? true : $0.workers == 0 ? false : nil }) { breakOff() }
        stallWatch?.join()
        // Off the list before they are joined, because `stop` interrupts the threads on the list.
        let workers = self.workers.withLock { workers in
            defer { workers = [] }
            return workers
        }
        for worker in workers { worker.join() }
        rings.withLock { $0 }?.join()
        rings.withLock { $0 = nil }
        requests.withLock { $0 = nil }
        negotiation.end()
        notifications.stop()
        for number in opened.withLock({ $0 }) { fileSystem.closeAbandoned(number, in: self) }
        fileSystem.ended()
        let isLeft = isStopping && negotiation.usesRings
        // The kernel lets go of rings, and with them of the connection, a moment after their threads; till then calls
        // in a mount that is left would be cancelled or aborted, and not fail with ENOTCONN.
        let isAborted = isLeft && abort()
        control.withLock { $0 = nil }
        unsafe fuse_session_destroy(connection)
        if isLeft, !isAborted { _ = HostMount.isAbandoned(path) }
        hasEnded.access { $0 = true }
    }
}
