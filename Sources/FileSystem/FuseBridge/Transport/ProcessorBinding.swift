// The processor of a worker over io_uring: bound to it for a client that waits, and free where requests queue up.

import Platform

/// Decides whether a worker stays on its queue's processor. Used by the worker's own thread.
///
/// A client that waits for each reply is served fastest on its own processor. But the kernel's writeback sends many
/// requests at a time from one processor: bound to it, all of that queue's threads would share it while others are
/// idle.
struct ProcessorBinding {
    /// nil for a worker that is never bound.
    private let processor: Int?
    private var isBound = false
    /// Rises with each request that had queued up, and falls with each other.
    private var backlog = 0

    /// From so many on the worker is free. It is bound again when as many others have followed.
    private static let limit = 4

    init(_ processor: Int?) {
        self.processor = processor
    }

    /// Binds the calling thread, at its start.
    mutating func begin() {
        if let processor { isBound = Processors.bindThread(to: processor) }
    }

    /// Notes a request.
    /// - Parameter queuedUp: whether it was there before the one before it was over, and no process waits for its
    ///   reply.
    mutating func note(queuedUp: Bool) {
        guard let processor else { return }
        backlog = queuedUp ? min(backlog + 1, ProcessorBinding.limit) : max(backlog - 1, 0)
        if backlog == ProcessorBinding.limit {
            leave()
        } else if !isBound, backlog == 0 {
            isBound = Processors.bindThread(to: processor)
            // One that is switched off is not tried at each request.
            if !isBound { backlog = ProcessorBinding.limit }
        }
    }

    /// Notes that the next request takes long.
    mutating func noteLong() {
        backlog = ProcessorBinding.limit
        leave()
    }

    private mutating func leave() {
        guard isBound else { return }
        Processors.releaseThread()
        isBound = false
    }
}
