// A queue of notifications to the kernel, and the thread that sends them.

import CFuse
import Platform
import SandboxModel
import Synchronization

/// libfuse's session handle.
@safe struct Connection: @unchecked Sendable {
    @unsafe let session: OpaquePointer
}

/// Sends notifications in order. Errors are ignored: the kernel does not know the node or the name, or the mount is
/// gone, so nothing is cached.
@safe final class NotificationQueue: @unchecked Sendable {
    struct Notice: Sendable {
        let send: @Sendable (Connection) -> Void
        /// Runs after the kernel is done.
        var then: (@Sendable () -> Void)?
    }

    private struct Queue {
        var waiting: [Notice] = []
        /// Notifications ever added, and ever sent or dropped: ``drain()`` compares them.
        var added: UInt64 = 0
        var sent: UInt64 = 0
    }

    private let name: String
    private let queue = Monitor(Queue())
    /// Changed with the queue's lock held.
    private let isClosed = Atomic<Bool>(false)
    // Set by `start` and `stop`, which the session calls once each.
    private var thread: HostThread?

    init(_ name: String) {
        self.name = name
    }

    /// Appends a notification. Returns at once.
    /// - Returns: false after the end: the notification is dropped.
    @discardableResult
    func add(_ notice: Notice) -> Bool {
        queue.access { queue in
            guard !isClosed.load(ordering: .relaxed) else { return false }
            queue.waiting.append(notice)
            queue.added += 1
            return true
        }
    }

    /// Waits until all notifications added so far have been sent.
    func drain() {
        let goal = queue.access { $0.added }
        queue.wait { $0.sent >= goal || isClosed.load(ordering: .relaxed) ? () : nil }
    }

    /// As ``drain()``, until a time of ``MonotonicClock`` at the latest.
    func drain(until deadline: UInt64) {
        let goal = queue.access { $0.added }
        _ = queue.wait(until: deadline) { $0.sent >= goal || isClosed.load(ordering: .relaxed) ? () : nil }
    }

    /// - Parameter connection: valid until ``stop()`` has returned.
    func start(_ connection: Connection) throws(SystemError) {
        thread = try HostThread(name: name) { [self] in
            while let batch = next() {
                for notice in batch {
                    // After the end only what somebody waits for.
                    if notice.then != nil || !isClosed.load(ordering: .relaxed) { notice.send(connection) }
                    notice.then?()
                }
                queue.access { $0.sent += UInt64(batch.count) }
            }
        }
    }

    /// Drops the waiting notifications, but for those whose end somebody waits for, and all later ones. Returns at
    /// once.
    func close() {
        queue.access { _ in isClosed.store(true, ordering: .relaxed) }
    }

    /// Whether the kernel has obeyed everything that was not dropped. After ``close()`` that stays so.
    var isIdle: Bool { queue.access { $0.sent == $0.added } }

    /// Ends the thread, which is idle then, or on a connection that has ended.
    func stop() {
        close()
        thread?.join()
        thread = nil
    }

    /// - Returns: the waiting notifications; nil at the end.
    private func next() -> [Notice]? {
        // The outer optional is the monitor's: nil goes on waiting.
        queue.wait { queue -> [Notice]?? in
            if !queue.waiting.isEmpty {
                defer { queue.waiting = [] }
                return queue.waiting
            }
            return isClosed.load(ordering: .relaxed) ? .some(nil) : nil
        }
    }
}
