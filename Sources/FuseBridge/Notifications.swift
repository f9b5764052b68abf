// What the filesystem tells the kernel of its own accord, from a thread of its own.

import CFuse
import Glibc
import Platform
import SandboxModel

/// A queue of notifications. Every function returns at once: the kernel may take locks for a notification that the
/// request being served holds.
@safe public final class Notifications: @unchecked Sendable {
    private enum Notice: Sendable {
        case content(KernelNode, offset: Int64, count: Int64)
        case entry([UInt8], KernelNode)
        case removed([UInt8], KernelNode, child: KernelNode)
    }

    private struct Queue {
        var waiting: [Notice] = []
        var added: UInt64 = 0
        var sent: UInt64 = 0
        var closed = false
    }

    private let queue = Monitor(Queue())
    private var thread: HostThread?

    init() {}

    /// The kernel forgets an inode's attributes and what it caches of `count` bytes from `offset`, after it has
    /// written out what is dirty there. A count of 0 means to the end; a negative offset, attributes only.
    public func forgetContent(of node: KernelNode, offset: Int64 = 0, count: Int64 = 0) {
        add(.content(node, offset: offset, count: count))
    }

    /// The kernel forgets what it knows of a name, absence included, and the directory's cached list.
    public func forgetEntry(_ name: [UInt8], in parent: KernelNode) {
        add(.entry(name, parent))
        // A name that is not in the kernel's cache leaves the list as it is (fuse_reverse_inval_entry): drop it too.
        add(.content(parent, offset: 0, count: 0))
    }

    /// The name is gone: the kernel forgets it, and those who watch the directory are told.
    public func removed(_ name: [UInt8], in parent: KernelNode, child: KernelNode) {
        add(.removed(name, parent, child: child))
        add(.content(parent, offset: 0, count: 0))
    }

    /// Waits until all that was asked for so far has reached the kernel. Never from a request, nor with a lock held
    /// that a request takes.
    public func drain() {
        let goal = queue.access { $0.added }
        _ = queue.wait { $0.sent >= goal || $0.closed ? true : nil }
    }

    private func add(_ notice: Notice) {
        queue.access { queue in
            guard !queue.closed else { return }
            queue.waiting.append(notice)
            queue.added += 1
        }
    }

    func start(_ connection: OpaquePointer) throws(SystemError) {
        let connection = UInt(bitPattern: connection)
        thread = try HostThread(name: "fuse-notify") { [self] in
            // The session destroys the connection only after `stop` has joined this thread.
            while let batch = next() {
                for notice in batch { unsafe send(notice, unsafe OpaquePointer(bitPattern: connection)!) }
                queue.access { $0.sent += UInt64(batch.count) }
            }
        }
    }

    func stop() {
        queue.access { $0.closed = true }
        thread?.join()
        thread = nil
    }

    private func next() -> [Notice]? {
        queue.wait { queue -> [Notice]?? in
            if queue.closed { return .some(nil) }
            if queue.waiting.isEmpty { return nil }
            defer { queue.waiting.removeAll(keepingCapacity: true) }
            return queue.waiting
        }
    }

    /// Errors say that the kernel does not know the node or the name, or that the mount is gone: nothing to forget.
    private func send(_ notice: Notice, _ connection: OpaquePointer) {
        switch notice {
        case .content(let node, let offset, let count):
            unsafe fuse_lowlevel_notify_inval_inode(connection, node.rawValue, off_t(offset), off_t(count))
        case .entry(let name, let parent):
            unsafe withTerminated(name) { name, count in
                unsafe fuse_lowlevel_notify_inval_entry(connection, parent.rawValue, name, count)
            }
        case .removed(let name, let parent, let child):
            unsafe withTerminated(name) { name, count in
                unsafe fuse_lowlevel_notify_delete(connection, parent.rawValue, child.rawValue, name, count)
            }
        }
    }

    private func withTerminated(_ name: [UInt8], _ body: (UnsafePointer<CChar>, Int) -> Int32) {
        let terminated = name + [0]
        unsafe terminated.withUnsafeBytes { bytes in
            _ = unsafe body(bytes.baseAddress!.assumingMemoryBound(to: CChar.self), name.count)
        }
    }
}
