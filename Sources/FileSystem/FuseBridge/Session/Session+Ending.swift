// The end of a session whose mounts are left, and of one that can serve no longer.

import CFuse
import Glibc
import Platform
import SandboxModel
import Synchronization

extension Session {
    /// Ends the session though mounts of it are left: requests under way are answered, later calls in the mount fail
    /// with ENOTCONN. Waits for the end, so do not call it from a request.
    ///
    /// A notification in the kernel may wait for a lock whose holder waits for a request. So notifications end first,
    /// while requests are served; if they do not, the connection is aborted, which fails those requests.
    public func stop() {
        notifications.close()
        if !waitForNotifications(atMost: Session.patience), !abort() {
            // An ordinary user, and no fusectl: all that ends them is to serve on.
            while !notifications.areIdle() { usleep(1000) }
        }
        stopWorkers { self.hasEnded.access { $0 } }
    }

    /// For notifications at the end.
    private static let patience = Duration.seconds(1)

    private func waitForNotifications(atMost limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        while !notifications.areIdle() {
            guard ContinuousClock.now < deadline else { return false }
            usleep(500)
        }
        return true
    }

    /// Has the workers end after the request that each serves.
    /// - Parameter isOver: whether they have ended.
    func stopWorkers(until isOver: () -> Bool) {
        // A session may be stopped while it fails. One thread does the work, to the end; the other one waits for it,
        // and not for the lock, whose holder may wait for the other.
        guard !endsWorkers.exchange(true, ordering: .relaxed) else {
            while !isOver() { usleep(1000) }
            return
        }
        MountHelper.spawning.withLock { _ in
            stopping.store(true, ordering: .relaxed)
            // Repeatedly, because a worker may be interrupted just before it blocks.
            while !isOver() {
                requests.withLock { $0 }?.threads.interrupt()
                rings.withLock { $0 }?.interrupt()
                usleep(1000)
            }
        }
    }

    // MARK: Failure

    /// Ends a session that can serve no longer: a queue that nobody serves would keep its callers waiting for ever.
    /// For a worker, which ends then. The first call counts.
    /// - Parameters:
    ///   - reason: for the log, as the end of a sentence.
    ///   - isReader: whether the worker is one of /dev/fuse.
    func fail(_ reason: String, isReader: Bool) {
        guard !isStopping, !hasFailed.exchange(true, ordering: .relaxed) else { return }
        options.failed("the mount at \(path) ends: \(reason)")
        running.access { $0.hasFailed = true }
        do throws(SystemError) {
            try HostThread(name: "fuse-end") { self.endOnce() }.detach()
        } catch {
            // Without a thread for it, the worker of /dev/fuse that ends first carries the end out. Repeatedly, because
            // it may be interrupted just before it blocks.
            while !isReader, !isFinishing.load(ordering: .relaxed) {
                requests.withLock { $0 }?.threads.interrupt()
                usleep(1000)
            }
        }
    }

    /// Frees the callers of a session that has failed, and ends its workers.
    func breakOff() {
        notifications.close()
        // Without the switch the connection ends with its descriptor, which a notification in the kernel keeps open.
        if !abort() { _ = waitForNotifications(atMost: Session.patience) }
        stopWorkers { self.running.access { $0.workers == 0 } }
    }

    /// Whether the kernel has ended the connection: its last mount is gone, or it was aborted. Waits a moment for that,
    /// because the kernel refuses requests and rings before it says so.
    var isDisconnected: Bool {
        var device = unsafe pollfd(fd: fuse_session_fd(connection), events: 0, revents: 0)
        // POLLERR needs not be asked for.
        while true {
            let count = unsafe poll(&device, 1, 200)
            if count >= 0 { return count > 0 }
            guard errno == EINTR else { return false }
        }
    }

    /// Aborts the connection: its requests fail, whoever serves them.
    /// - Returns: false if this process cannot.
    func abort() -> Bool {
        control.withLock { control in
            // The end of the session.
            guard let control else { return true }
            return control.abort() || ActingUser.isPrivileged && abortByForce(control)
        }
    }

    /// Where fusectl is not mounted, by a mount. That of the session may be out of sight: then by another one, which
    /// can be made only where the directory, whose lock mount(2) takes, is not one of the connection.
    private func abortByForce(_ control: ConnectionControl) -> Bool {
        if control.isMounted(at: path) { return HostMount.abort(path) }
        guard (try? mountAgain(source: options.source, at: path)) != nil else { return false }
        return (try? HostMount.unmount(path, .byForce)) != nil
    }
}
