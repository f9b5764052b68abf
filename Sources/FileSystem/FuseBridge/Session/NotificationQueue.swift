// A queue of notifications to the kernel, and the thread that sends them.

import CFuse
import Platform
import SandboxModel

/// libfuse's session handle.
@safe struct Connection: @unchecked Sendable {
    @unsafe let session: OpaquePointer
}

/// Sends notifications in order. Those added after the end are dropped. Errors are ignored: the kernel does not know
/// the node or the name, or the mount is gone, so nothing is cached.
@safe final class NotificationQueue: @unchecked Sendable {
    typealias Notice = @Sendable (Connection) -> Void

    private struct Queue {
        var waiting: [Notice] = []
        /// Notifications ever added, and ever sent: ``drain()`` compares them.
        var added: UInt64 = 0
        var sent: UInt64 = 0
        var isClosed = false
    }

    private let name: String
    private let queue = Monitor(Queue())
    // Set by `start` and `stop`, which the session calls once each.
    private var thread: HostThread?

    init(_ name: String) {
        self.name = name
    }

    /// Appends a notification. Returns at once.
    func add(_ notice: @escaping Notice) {
        queue.access { queue in
            guard !queue.isClosed else { return }
            queue.waiting.append(notice)
            queue.added += 1
        }
    }

    /// Waits until all notifications added so far have been sent.
    func drain() {
        let goal = queue.access { $0.added }
        queue.wait { $0.sent >= goal || $0.isClosed ? () : nil }
    }

    /// - Parameter connection: valid until ``stop()`` has returned.
    func start(_ connection: Connection) throws(SystemError) {
        thread = try HostThread(name: name) { [self] in
            while let batch = next() {
                for notice in batch { notice(connection) }
                queue.access { $0.sent += UInt64(batch.count) }
            }
        }
    }

    /// Sends the waiting notifications, to a connection that may be broken, and ends the thread.
    func stop() {
        queue.access { $0.isClosed = true }
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
            return queue.isClosed ? .some(nil) : nil
        }
    }
}
