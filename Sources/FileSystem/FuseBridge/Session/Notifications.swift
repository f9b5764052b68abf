// What the filesystem tells the kernel of its own accord, from threads of its own.

import CFuse
import Glibc
import Platform
import SandboxModel

/// Notifications, sent in the order in which they were asked for, in two lanes. Every function returns at once: the
/// kernel may take locks for a notification that the request being served holds.
///
/// Names have a lane of their own because the kernel takes the directory's lock for them, and whoever holds it may
/// wait for something in the other lane; for content it takes no lock that a request holds.
@safe public final class Notifications: @unchecked Sendable {
    private let names = NotificationQueue("fuse-names")
    private let content = NotificationQueue("fuse-content")

    init() {}

    /// The kernel forgets an inode's attributes and what it caches of `count` bytes from `offset`, after it has
    /// written out what is dirty there. A count of 0 means to the end; a negative offset, attributes only.
    /// - Parameter then: run when the kernel has obeyed, on the lane's thread; also when the session ends before.
    public func forgetContent(
        of node: KernelNode, offset: Int64 = 0, count: Int64 = 0, then: (@Sendable () -> Void)? = nil
    ) {
        content.add { connection in
            unsafe fuse_lowlevel_notify_inval_inode(connection.session, node.rawValue, off_t(offset), off_t(count))
            then?()
        }
    }

    /// The kernel forgets what it knows of a name, absence included, and the directory's cached list.
    /// - Parameter isBack: asked when its turn comes, on the lane's thread; then what has the name stays known.
    public func forgetEntry(
        _ name: [UInt8], in parent: KernelNode, unless isBack: @escaping @Sendable () -> Bool = { false }
    ) {
        names.add { connection in
            if isBack() { return }
            unsafe Notifications.withTerminated(name) { name, count in
                unsafe fuse_lowlevel_notify_inval_entry(connection.session, parent.rawValue, name, count)
            }
        }
        // A name that is not in the kernel's cache leaves the list as it is (fuse_reverse_inval_entry): drop it too.
        forgetContent(of: parent)
    }

    /// The kernel asks for a name before it relies on it again. Unlike ``forgetEntry(_:in:)`` this takes no time, whatever
    /// is cached below the name.
    public func expireEntry(_ name: [UInt8], in parent: KernelNode) {
        names.add { connection in
            unsafe Notifications.withTerminated(name) { name, count in
                let answer = unsafe fuse_lowlevel_notify_expire_entry(
                    connection.session, parent.rawValue, name, count, FUSE_LL_EXPIRE_ONLY)
                // A kernel before 6.2 cannot let a name expire.
                guard answer == -ENOSYS else { return answer }
                return unsafe fuse_lowlevel_notify_inval_entry(connection.session, parent.rawValue, name, count)
            }
        }
    }

    /// Waits until all that was asked for so far has reached the kernel. Never from a request, nor with a lock held
    /// that a request takes.
    public func drain() {
        names.drain()
        content.drain()
    }

    func start(_ connection: Connection) throws(SystemError) {
        try names.start(connection)
        try content.start(connection)
    }

    func stop() {
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
