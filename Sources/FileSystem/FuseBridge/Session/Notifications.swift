// FUSE notifications: the filesystem invalidates what the kernel caches.

import CFuse
import Glibc
import Platform
import SandboxModel
import Synchronization

/// Notifications in two queues, each in order. Every function returns at once: the kernel may take locks for a
/// notification that the request being served holds.
///
/// Names have a queue of their own because the kernel takes the directory's lock for them, and the holder of that lock
/// may wait for a notification of content. For content the kernel takes no lock that a request holds.
@safe public final class Notifications: @unchecked Sendable {
    private let names = NotificationQueue("fuse-names")
    private let content = NotificationQueue("fuse-content")
    /// nil before the start and after the end. A leaf, held to copy the reference.
    private let direct = Mutex<Connection?>(nil)

    init() {}

    /// Invalidates an inode's status and its cached pages of `count` bytes from `offset`, after writing dirty ones out
    /// (FUSE_NOTIFY_INVAL_INODE). A count of 0 means to the end; a negative offset, the status only.
    /// - Parameter then: runs after the kernel is done, on the queue's thread; also if the connection is broken.
    /// - Returns: false if the session is ending: nothing is sent, and `then` never runs.
    @discardableResult
    public func forgetContent(
        of node: KernelNode, offset: Int64 = 0, count: Int64 = 0, then: (@Sendable () -> Void)? = nil
    ) -> Bool {
        let send: @Sendable (Connection) -> Void = { connection in
            unsafe fuse_lowlevel_notify_inval_inode(connection.session, node.rawValue, off_t(offset), off_t(count))
        }
        return content.add(NotificationQueue.Notice(send: send, then: then))
    }

    /// Invalidates an inode's status, and returns when the kernel has done so: it takes no lock for that which a
    /// request holds. Only for a thread that serves a request.
    public func forgetStatusAtOnce(of node: KernelNode) {
        guard let connection = direct.withLock({ $0 }) else { return }
        // The session outlives its workers.
        unsafe fuse_lowlevel_notify_inval_inode(connection.session, node.rawValue, -1, 0)
    }

    /// Invalidates a name, or its cached absence, and the directory's cached listing (FUSE_NOTIFY_INVAL_ENTRY).
    /// - Parameter isBack: called just before sending, on the queue's thread. If true, the name stays cached.
    public func forgetEntry(
        _ name: [UInt8], in parent: KernelNode, unless isBack: @escaping @Sendable () -> Bool = { false }
    ) {
        let send: @Sendable (Connection) -> Void = { connection in
            if isBack() { return }
            unsafe Notifications.withTerminated(name) { name, count in
                unsafe fuse_lowlevel_notify_inval_entry(connection.session, parent.rawValue, name, count)
            }
        }
        names.add(NotificationQueue.Notice(send: send))
        // If the name is not cached, the kernel keeps the listing (fuse_reverse_inval_entry): invalidate that too.
        forgetContent(of: parent)
    }

    /// Has the kernel look a name up again before its next use (FUSE_EXPIRE_ONLY). Unlike ``forgetEntry(_:in:unless:)``
    /// this takes no time, however much is cached below the name.
    public func expireEntry(_ name: [UInt8], in parent: KernelNode) {
        let send: @Sendable (Connection) -> Void = { connection in
            unsafe Notifications.withTerminated(name) { name, count in
                let answer = unsafe fuse_lowlevel_notify_expire_entry(
                    connection.session, parent.rawValue, name, count, FUSE_LL_EXPIRE_ONLY)
                // Kernels before 6.2 have no FUSE_EXPIRE_ONLY.
                guard answer == -ENOSYS else { return answer }
                return unsafe fuse_lowlevel_notify_inval_entry(connection.session, parent.rawValue, name, count)
            }
        }
        names.add(NotificationQueue.Notice(send: send))
    }

    /// Waits until the kernel has obeyed all notifications so far. Do not call it from a request, nor with a lock held
    /// that a request takes.
    ///
    /// A process can hold a directory's lock in the kernel for as long as it likes: it reads the directory into memory
    /// that is mapped from a filesystem that does not answer. Names of that directory, and all later ones, wait for it.
    public func drain() {
        names.drain()
        content.drain()
    }

    /// As ``drain()``, until a time of ``MonotonicClock`` at the latest.
    public func drain(until deadline: UInt64) {
        names.drain(until: deadline)
        content.drain(until: deadline)
    }

    /// As ``drain()`` for status and content alone, which no process can hold up.
    public func drainContent() { content.drain() }

    /// Begins to send.
    /// - Parameter connection: valid until ``stop()`` has returned.
    func start(_ connection: Connection) {
        names.start(connection)
        content.start(connection)
        direct.withLock { $0 = connection }
    }

    /// Drops the waiting notifications, but for those whose end a request waits for, and all later ones.
    func close() {
        direct.withLock { $0 = nil }
        names.close()
        content.close()
    }

    /// Whether the kernel is done with all that was not dropped. After ``close()`` that stays so.
    func areIdle() -> Bool {
        // Both, as each may need a thread.
        let (names, content) = (names.isIdle(), content.isIdle())
        return names && content
    }

    /// Ends the sending. Both queues are idle, or the connection has ended: a thread that waits in the kernel for a
    /// request would never come back from there.
    func stop() {
        close()
        names.stop()
        content.stop()
    }

    private static func withTerminated(_ name: [UInt8], _ body: (UnsafePointer<CChar>, Int) -> Int32) {
        let terminated = name + [0]
        unsafe terminated.withUnsafeBytes { bytes in
            _ = unsafe body(bytes.baseAddress!.assumingMemoryBound(to: CChar.self), name.count)
        }
    }
}
