// The threads, queues and memory of a connection over io_uring, as decided before any is made.

/// The kernel has a queue of requests for each possible processor, and puts a request into that of its caller's. An
/// entry is room for one request of one queue; every queue needs one, or the kernel waits.
struct RingPlan: Equatable {
    /// A thread with a ring, and an entry for each of its queues.
    struct Worker: Equatable {
        /// The processor to which the thread is bound; nil if to none.
        let processor: Int?
        let queues: [UInt16]
    }

    let workers: [Worker]
    /// Bytes of content of the largest request, and so of an entry's payload.
    let payload: Int

    /// Requests of one processor that are served at a time, before its queue gets further workers. More than one, as a
    /// request may wait for the host's disk; not many, as those that one worker takes after another cost no wake-up.
    private static let workersOfProcessor = 4
    /// Bytes of all payloads together, as long as each has ``smallestPayload``.
    private static let payloadSum = 16 << 20
    private static let smallestPayload = 128 << 10
    /// Queues of one thread, for processors that are switched off.
    static let mostQueues = 16

    init(workers: [Worker], payload: Int) {
        self.workers = workers
        self.payload = payload
    }

    /// - Parameters:
    ///   - possible: how many processors the machine may ever have: the number of queues.
    ///   - online: those that run now.
    ///   - allowed: whether this process may use a processor. The clients may be on others.
    init(possible: Int, online: Set<Int>, allowed: (Int) -> Bool) {
        let running = (0..<possible).filter(online.contains)
        var workers: [Worker] = []
        for processor in running {
            let worker = Worker(processor: allowed(processor) ? processor : nil, queues: [UInt16(processor)])
            workers += Array(repeating: worker, count: RingPlan.workersOfProcessor)
        }
        // One that is switched on later has its requests served, by a thread that it shares.
        let idle = (0..<possible).filter { !online.contains($0) }.map { UInt16($0) }
        for start in stride(from: 0, to: idle.count, by: RingPlan.mostQueues) {
            workers.append(
                Worker(processor: nil, queues: Array(idle[start..<min(start + RingPlan.mostQueues, idle.count)])))
        }
        self.workers = workers
        let entries = workers.reduce(0) { $0 + $1.queues.count }
        // Whole pages, of any size.
        let share = RingPlan.payloadSum / max(1, entries) / (64 << 10) * (64 << 10)
        payload = max(RingPlan.smallestPayload, min(Session.largestRequest, share))
    }

    var queueCount: Int { workers.reduce(0) { max($0, Int($1.queues.max() ?? 0) + 1) } }
}
