// Queues over io_uring all of whose entries serve a request for long: further workers for them.

import Platform
import Synchronization

extension RingTransport {
    /// The request that each worker served at a look.
    typealias Progress = [ObjectIdentifier: UInt64]

    /// Adds a worker to each queue of which every entry has served one request since the last look, so that none would
    /// take the next. A mount has a few such workers at most: clients that all wait for the host's disk would get a
    /// thread each.
    /// - Returns: whether a queue has no worker without a request.
    func relieveQueues(_ last: inout Progress) -> Bool {
        let workers = members.withLock { $0.map(\.worker) }
        var now = Progress(minimumCapacity: workers.count)
        var states = [QueueState](repeating: QueueState(), count: queues.count)
        for worker in workers {
            let id = ObjectIdentifier(worker)
            let request = worker.request
            now[id] = request
            for entry in worker.entries {
                states[Int(entry.queue.number)].add(
                    isIdle: request == 0, isStalled: request != 0 && last[id] == request)
            }
        }
        last = now
        for (queue, state) in zip(queues, states) where state.isStalled {
            guard workers.count < plan.workers.count + RingTransport.mostForStalls else { break }
            _ = addWorker(to: queue, workers.flatMap { $0.entries.compactMap(\.file) })
        }
        return states.contains { $0.isFull }
    }

    private static let mostForStalls = 64

    private struct QueueState {
        private var entries = 0
        private var idle = 0
        private var stalled = 0

        var isFull: Bool { entries > 0 && idle == 0 }
        var isStalled: Bool { entries > 0 && stalled == entries }

        mutating func add(isIdle: Bool, isStalled: Bool) {
            entries += 1
            idle += isIdle ? 1 : 0
            stalled += isStalled ? 1 : 0
        }
    }

    /// Whether a queue has no free entry, or a thread that serves several queues has a request.
    var hasFullQueue: Bool {
        members.withLock { members in
            members.contains { member in
                let entries = member.worker.entries
                return entries[0].queue.free.load(ordering: .sequentiallyConsistent) == 0
                    || entries.count > 1 && member.worker.request != 0
            }
        }
    }
}

extension Session {
    /// As of ``RingTransport/relieveQueues(_:)``; false without rings.
    func relieveQueues(_ last: inout RingTransport.Progress) -> Bool {
        rings.withLock { $0 }?.relieveQueues(&last) ?? false
    }

    var hasFullQueue: Bool { rings.withLock { $0 }?.hasFullQueue ?? false }
}
