// The start of a session's threads, and the end when none of them serves any more.

import CFuse
import Glibc
import Platform
import SandboxModel
import Synchronization

extension Session {
    /// Starts the first worker; the other threads begin when there is work for them.
    /// - Throws: if the thread cannot be made; the mount is removed then.
    func serve(_ ended: @escaping @Sendable () -> Void) throws(SystemError) {
        self.ended.withLock { $0 = ended }
        do throws(SystemError) {
            let pool = try WorkerPool(self)
            requests.withLock { $0 = pool }
            notifications.start(unsafe Connection(session: connection))
            try pool.start()
        } catch {
            try? Session.unmount(path, lazily: true)
            finish()
            throw error
        }
    }

    /// Counts a thread that serves requests. The session ends when none is left.
    func beginServing() { running.access { $0.workers += 1 } }

    func endServing() { running.access { $0.workers -= 1 } }

    /// Carries the end of the session out, on the first worker of /dev/fuse that is at an end, or on a thread made for
    /// it. Later calls do nothing.
    func endOnce() {
        guard !isFinishing.exchange(true, ordering: .relaxed) else { return }
        finish()
        let ended = self.ended.withLock { $0.take() }
        if negotiation.isAccepted { ended?() }
    }

    /// Waits until no worker is left, and joins the threads. libfuse's session is destroyed last: notifications and
    /// handles refer to it.
    private func finish() {
        if running.wait({ $0.hasFailed ? true : $0.workers == 0 ? false : nil }) { breakOff() }
        let pool = requests.withLock { $0 }
        pool?.threads.join()
        // Before the rings: it adds workers to them, and joins those that cannot serve.
        pool?.stalls.end()
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
