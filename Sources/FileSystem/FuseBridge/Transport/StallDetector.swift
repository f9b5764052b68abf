// Detects that every active worker is stalled in a request, such as a lookup on a cold disk, and wakes another worker.

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
    /// Either this finds the thread asleep, or the thread sees the request in its last look before it sleeps. That takes
    /// sequential consistency.
    @inline(__always)
    borrowing func tookRequest() {
        taken.add(1, ordering: .sequentiallyConsistent)
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
    /// `lookInterval`, so that none would take the next. Returns when the session ends.
    func watchForStalls() {
        while !isOver.load(ordering: .sequentiallyConsistent) {
            stalls.alarm.wait()
            let seen = lookWhileBusy()
            stalls.isAwake.store(false, ordering: .sequentiallyConsistent)
            // A worker that took a request just before saw `isAwake`, and did not signal.
            let now = stalls.taken.load(ordering: .sequentiallyConsistent)
            if now != seen || waiting.load(ordering: .sequentiallyConsistent) == 0 { stalls.wake() }
        }
    }

    /// - Returns: the count of requests at the last look, when no more came.
    private func lookWhileBusy() -> UInt {
        var seen = stalls.taken.load(ordering: .relaxed)
        var quiet = 0
        while quiet < WorkerPool.quietLooks, !isOver.load(ordering: .relaxed) {
            usleep(WorkerPool.lookInterval)
            let now = stalls.taken.load(ordering: .relaxed)
            if now != seen {
                seen = now
                quiet = 0
            } else if waiting.load(ordering: .sequentiallyConsistent) == 0 {
                wakeAnother()
            } else {
                quiet += 1
            }
        }
        return seen
    }
}
