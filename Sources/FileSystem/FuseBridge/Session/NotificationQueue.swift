// A queue of notifications to the kernel, and the thread that sends them while there are any.

import CFuse
import Glibc
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
        /// nil before ``start(_:)``.
        var connection: Connection?
        /// Whether a thread sends, or is about to.
        var isServed = false

        /// Claims the sending for a thread, if none sends and there is something to send.
        mutating func claim() -> Bool {
            guard !isServed, connection != nil, !waiting.isEmpty else { return false }
            isServed = true
            return true
        }
    }

    private let name: String
    private let queue = Monitor(Queue())
    /// Changed with the queue's lock held.
    private let isClosed = Atomic<Bool>(false)

    /// Nanoseconds for which the thread waits for further notifications.
    private static let quietTime: UInt64 = 2_000_000_000
    /// Nanoseconds between two tries to make a thread.
    private static let retryTime: UInt64 = 10_000_000

    init(_ name: String) {
        self.name = name
    }

    /// Appends a notification. Returns at once.
    /// - Returns: false after the end: the notification is dropped.
    @discardableResult
    func add(_ notice: Notice) -> Bool {
        let claimed: Bool? = queue.access { queue in
            guard !isClosed.load(ordering: .relaxed) else { return nil }
            queue.waiting.append(notice)
            queue.added += 1
            return queue.claim()
        }
        if claimed == true { makeThread() }
        return claimed != nil
    }

    /// After a claim. Where the host has no thread, those who wait for the queue try again, as do later notifications.
    /// For one that somebody waits for, who does not ask again, this does.
    private func makeThread() {
        while (try? HostThread(name: name) { [self] in send() }.detach()) == nil {
            let isAwaited = queue.access { queue in
                queue.isServed = queue.waiting.contains { $0.then != nil } && !isClosed.load(ordering: .relaxed)
                return queue.isServed
            }
            guard isAwaited else { return }
            usleep(useconds_t(NotificationQueue.retryTime / 1000))
        }
    }

    /// Waits until all notifications added so far have been sent.
    func drain() { drain(until: .max) }

    /// As ``drain()``, until a time of ``MonotonicClock`` at the latest.
    func drain(until deadline: UInt64) {
        let goal = queue.access { $0.added }
        var isDone = false
        while !isDone, MonotonicClock.nanoseconds < deadline {
            if queue.access({ $0.claim() }) { makeThread() }
            let pause = min(deadline, MonotonicClock.nanoseconds + NotificationQueue.retryTime)
            isDone = queue.wait(until: pause) { $0.sent >= goal || isClosed.load(ordering: .relaxed) ? () : nil } != nil
        }
    }

    /// - Parameter connection: valid until ``stop()`` has returned.
    func start(_ connection: Connection) {
        let claimed = queue.access { queue in
            queue.connection = connection
            return queue.claim()
        }
        if claimed { makeThread() }
    }

    /// Sends until nothing was added for a while, or until the end.
    private func send() {
        while let (batch, connection) = next() {
            for notice in batch {
                // After the end only what somebody waits for.
                if notice.then != nil || !isClosed.load(ordering: .relaxed) { notice.send(connection) }
                notice.then?()
            }
            queue.access { $0.sent += UInt64(batch.count) }
        }
        // Those who wait for the end of the sending.
        queue.access { _ in }
    }

    /// Drops the waiting notifications, but for those whose end somebody waits for, and all later ones. Returns at
    /// once.
    func close() {
        queue.access { _ in isClosed.store(true, ordering: .relaxed) }
    }

    /// Whether the kernel has obeyed everything that was not dropped. After ``close()`` that stays so.
    func isIdle() -> Bool {
        // Where the host had no thread.
        if queue.access({ $0.claim() }) { makeThread() }
        return queue.access { $0.sent == $0.added }
    }

    /// Ends the sending, which is idle then, or on a connection that has ended.
    func stop() {
        close()
        let claimed = queue.wait { queue in queue.isServed ? nil : queue.claim() }
        if claimed { send() }
    }

    /// - Returns: the waiting notifications; nil after a quiet while, and at the end, when no thread sends any more.
    private func next() -> (batch: [Notice], connection: Connection)? {
        let deadline = MonotonicClock.nanoseconds + NotificationQueue.quietTime
        // The outer optional is the monitor's: nil goes on waiting.
        let found = queue.wait(until: deadline) { queue -> (batch: [Notice], connection: Connection)?? in
            if !queue.waiting.isEmpty, let connection = queue.connection {
                defer { queue.waiting = [] }
                return (queue.waiting, connection)
            }
            guard isClosed.load(ordering: .relaxed) || MonotonicClock.nanoseconds >= deadline else { return nil }
            queue.isServed = false
            return .some(nil)
        }
        return found ?? next()
    }
}
