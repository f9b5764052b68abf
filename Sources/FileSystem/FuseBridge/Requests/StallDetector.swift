// Requests that take long without being of a kind that does: a name on a cold disk, a host that stands still.

import Glibc
import Platform
import Synchronization

/// What the workers tell the thread that looks after them.
struct StallDetector: ~Copyable {
    /// Requests taken so far.
    let taken = Atomic<UInt>(0)
    /// Whether the thread looks at the workers. It sleeps while there are no requests.
    let isAwake = Atomic<Bool>(false)
    let alarm = Semaphore()

    /// To be told of each request before it is served.
    ///
    /// Either this finds the thread asleep, or the thread finds the request when it looks once more before it sleeps:
    /// so the order of the two must hold between processors.
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
    private static let lookInterval: useconds_t = 2_000
    /// Looks without a new request before the thread goes back to sleep.
    private static let quietLooks = 5

    /// Calls another worker when those that serve are at one request each for longer than a look's interval, and so
    /// nobody would take the next. Returns when there will be no request any more.
    func watchForStalls() {
        while !isOver.load(ordering: .sequentiallyConsistent) {
            stalls.alarm.wait()
            let seen = lookWhileBusy()
            stalls.isAwake.store(false, ordering: .sequentiallyConsistent)
            // A worker that took a request just before found the thread awake, and did not wake it.
            let now = stalls.taken.load(ordering: .sequentiallyConsistent)
            if now != seen || waiting.load(ordering: .sequentiallyConsistent) == 0 { stalls.wake() }
        }
    }

    /// - Returns: the requests taken when nothing happened any more.
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
                callAnother()
            } else {
                quiet += 1
            }
        }
        return seen
    }
}
