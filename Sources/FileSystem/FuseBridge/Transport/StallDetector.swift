// Detects that every active worker is stalled in a request, such as a lookup on a cold disk, and wakes another worker,
// or adds one over io_uring.

import Glibc
import Platform
import Synchronization

/// State shared by the workers and the thread that watches them.
struct StallDetector: ~Copyable {
    /// Requests taken so far.
    let taken = Atomic<UInt>(0)
    /// Whether the thread is watching. It sleeps while there are no requests.
    let isAwake = Atomic<Bool>(false)
    let alarm = Semaphore()

    /// Counts a request before it is served, and wakes the thread if it sleeps.
    ///
    /// Either this finds the thread asleep, or the thread sees the request in its last look before it sleeps. That
    /// takes sequential consistency.
    @inline(__always)
    borrowing func tookRequest() {
        taken.add(1, ordering: .sequentiallyConsistent)
        watch()
    }

    /// Wakes the thread if it sleeps.
    @inline(__always)
    borrowing func watch() {
        if !isAwake.load(ordering: .sequentiallyConsistent) { wake() }
    }

    borrowing func wake() {
        if !isAwake.exchange(true, ordering: .sequentiallyConsistent) { alarm.signal() }
    }
}

extension WorkerPool {
    /// Microseconds.
    private static let lookInterval: useconds_t = 2_000
    /// Looks without a new request before the thread sleeps again.
    private static let quietLooks = 5

    /// Wakes another worker, one in reserve included, when all active ones have served one request for longer than
    /// `lookInterval`, so that none would take the next, and likewise for each queue over io_uring. Returns when the
    /// session ends.
    func watchForStalls() {
        while !isOver.load(ordering: .sequentiallyConsistent) {
            stalls.alarm.wait()
            let seen = lookWhileBusy()
            stalls.isAwake.store(false, ordering: .sequentiallyConsistent)
            // A worker that took a request just before saw `isAwake`, and did not signal.
            let now = stalls.taken.load(ordering: .sequentiallyConsistent)
            let isBusy = waiting.load(ordering: .sequentiallyConsistent) == 0 || session.hasFullQueue
            if now != seen || isBusy { stalls.wake() }
        }
    }

    /// - Returns: the count of requests at the last look, when no more came.
    private func lookWhileBusy() -> UInt {
        var seen = stalls.taken.load(ordering: .relaxed)
        var queues = RingTransport.Progress()
        var quiet = 0
        while quiet < WorkerPool.quietLooks, !isOver.load(ordering: .relaxed) {
            usleep(WorkerPool.lookInterval)
            let now = stalls.taken.load(ordering: .relaxed)
            let isFull = session.relieveQueues(&queues)
            if now != seen {
                seen = now
                quiet = 0
            } else if waiting.load(ordering: .sequentiallyConsistent) == 0 {
                wakeAnother()
            } else if isFull {
                quiet = 0
            } else {
                quiet += 1
            }
        }
        return seen
    }
}
