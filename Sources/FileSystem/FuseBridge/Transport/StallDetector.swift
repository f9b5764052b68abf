// Detects that every active worker is stalled in a request, such as a lookup on a cold disk, and wakes another worker,
// or adds one over io_uring.

import Glibc
import Platform
import SandboxModel
import Synchronization

/// State shared by the workers and the thread that watches them. There is a thread while there are requests, and for
/// ``quietMilliseconds`` after that.
struct StallDetector: ~Copyable {
    /// Requests taken so far.
    let taken = Atomic<UInt>(0)
    /// One of ``Watch``.
    private let watch = Atomic<UInt8>(Watch.none)
    private let alarm = Semaphore()

    private enum Watch {
        /// There is no thread.
        static let none: UInt8 = 0
        /// The thread waits for a request.
        static let asleep: UInt8 = 1
        /// It watches, or is about to.
        static let awake: UInt8 = 2
    }

    private static let quietMilliseconds = 5000

    /// Counts a request before it is served, and has the thread watch.
    ///
    /// Either this finds the thread asleep, or the thread sees the request in its last look before it sleeps. That
    /// takes sequential consistency.
    @inline(__always)
    borrowing func tookRequest(_ pool: WorkerPool) {
        taken.add(1, ordering: .sequentiallyConsistent)
        begin(pool)
    }

    /// Has the thread watch.
    @inline(__always)
    borrowing func begin(_ pool: WorkerPool) {
        if watch.load(ordering: .sequentiallyConsistent) != Watch.awake { wake(pool) }
    }

    private borrowing func wake(_ pool: WorkerPool) {
        switch watch.exchange(Watch.awake, ordering: .sequentiallyConsistent) {
        case Watch.asleep:
            alarm.signal()
        case Watch.none:
            do throws(SystemError) {
                try HostThread(name: "fuse-oversight") { pool.watchForStalls() }.detach()
            } catch {
                // The next request tries again. A worker that sleeps reads it, for whom no thread has to be made.
                watch.store(Watch.none, ordering: .sequentiallyConsistent)
                pool.callAnother()
            }
        default: break
        }
    }

    /// The thread has nothing to watch: it waits until it has. Only for that thread.
    /// - Parameter isBusy: called when the thread counts as asleep, for the requests that came just before.
    /// - Returns: false if it has waited for long, and is to end.
    borrowing func sleep(unless isBusy: () -> Bool) -> Bool {
        watch.store(Watch.asleep, ordering: .sequentiallyConsistent)
        if isBusy(), change(to: Watch.awake) { return true }
        if alarm.wait(milliseconds: StallDetector.quietMilliseconds) { return true }
        guard !change(to: Watch.none) else { return false }
        // Woken at the last moment.
        alarm.wait()
        return true
    }

    /// - Returns: false if the thread has been woken.
    private borrowing func change(to state: UInt8) -> Bool {
        watch.compareExchange(expected: Watch.asleep, desired: state, ordering: .sequentiallyConsistent).exchanged
    }

    /// Waits until the thread has ended, after the last request. It sees by itself that the session is over.
    borrowing func end() {
        if watch.load(ordering: .sequentiallyConsistent) == Watch.asleep { alarm.signal() }
        while watch.load(ordering: .sequentiallyConsistent) != Watch.none { usleep(200) }
    }

    /// The thread ends with the session.
    borrowing func leave() { watch.store(Watch.none, ordering: .sequentiallyConsistent) }
}

extension WorkerPool {
    /// Microseconds.
    private static let lookInterval: useconds_t = 2_000
    /// Looks without a new request before the thread sleeps again.
    private static let quietLooks = 5

    /// Calls another worker, one in reserve included, when all active ones have served one request for longer than
    /// `lookInterval`, so that none would take the next, and likewise for each queue over io_uring. Returns when there
    /// was no request for long, and when the session ends.
    func watchForStalls() {
        while !threads.isOver {
            let seen = lookWhileBusy()
            let isAwake = stalls.sleep {
                // A worker that took a request just before found the thread awake.
                stalls.taken.load(ordering: .sequentiallyConsistent) != seen
                    || waiting.load(ordering: .sequentiallyConsistent) == 0 || session.hasFullQueue
            }
            guard isAwake else { return }
        }
        stalls.leave()
    }

    /// - Returns: the count of requests at the last look, when no more came.
    private func lookWhileBusy() -> UInt {
        var seen = stalls.taken.load(ordering: .relaxed)
        var queues = RingTransport.Progress()
        var quiet = 0
        while quiet < WorkerPool.quietLooks, !threads.isOver {
            usleep(WorkerPool.lookInterval)
            let now = stalls.taken.load(ordering: .relaxed)
            let isFull = session.relieveQueues(&queues)
            if now != seen {
                seen = now
                quiet = 0
            } else if waiting.load(ordering: .sequentiallyConsistent) == 0 {
                callAnother()
            } else if isFull {
                quiet = 0
            } else {
                quiet += 1
            }
        }
        return seen
    }
}
