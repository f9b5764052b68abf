// The loop of a worker: a request is read, handed to libfuse's parser, and answered, on one thread.

import CFuse
import Glibc
import Platform
import Synchronization

/// What the workers of one session share. libfuse's own pool costs some 4 µs more for each request.
///
/// One worker at a time waits for a request, the others are parked: a client that waits for each answer is served by
/// one thread, whose caches are warm, where the kernel would wake all of them in turn. A worker calls another when
/// requests queue up, or before one that may take long; who watches over them does when one takes long all the same, and
/// then also calls those in reserve, whom nobody else does: many threads at short requests only get in each other's way.
///
/// The one that waits looks for the next request a moment before it sleeps, because waking a sleeping processor takes
/// longer than most requests: on two idle processors a call takes 0.6 of the time, removing a tree 0.9, unpacking one
/// 0.85. It yields to whoever wants to run.
@safe final class WorkerPool: @unchecked Sendable {
    private let session: Session
    private let device: Int32
    /// Workers that look or wait for a request.
    let waiting = Atomic<Int>(0)
    /// Workers that are parked and have not been called.
    private let parked = Atomic<Int>(0)
    private let calls = Semaphore()
    let isOver = Atomic<Bool>(false)
    let stalls = StallDetector()
    private let workers: [RequestWorker]
    /// Counts how often the workers were asked to zero what requests have left.
    private let wipes = Atomic<UInt64>(0)

    init(_ session: Session) {
        self.session = session
        workers = (0..<session.options.workers + session.options.reserve).map { _ in RequestWorker() }
        device = unsafe fuse_session_fd(session.connection)
    }

    /// Serves until the mount is gone.
    /// - Parameter index: the worker's, from 0.
    func run(_ index: Int) {
        let worker = workers[index]
        // A root daemon writes for others: without this capability the host clears set-user-ID and set-group-ID bits
        // at a write, as it would for them.
        SetIDCapability.drop()
        HostThread.allowInterruption()
        var request = unsafe fuse_buf()
        // The worker outlives this function.
        unsafe request.mem = worker.memory
        unsafe CurrentRequest.useHeader(at: worker.memory)
        var backlog = 0
        var forgets = 0
        while true {
            waiting.add(1, ordering: .sequentiallyConsistent)
            // Of several in a row no client waits for the end: the kernel lets go of what it caches.
            let count = next(worker, watching: forgets < 2)
            let others = waiting.subtract(1, ordering: .sequentiallyConsistent).newValue
            guard let count else { break }
            stalls.tookRequest()
            forgets = unsafe WorkerPool.isForget(request.mem) ? forgets + 1 : 0
            backlog = hasNext() ? backlog + 1 : 0
            if others == 0, unsafe mayTakeLong(request.mem, backlog: backlog) {
                callAnother(leaving: session.options.reserve)
            }
            unsafe request.size = count
            worker.begin(count)
            unsafe fuse_session_process_buf(session.connection, &request)
            worker.end()
            if waiting.load(ordering: .sequentiallyConsistent) > 0, !hasNext(), !park() { break }
        }
        worker.wipe(asked: .max)
        isOver.store(true, ordering: .sequentiallyConsistent)
        while callAnother() {}
        stalls.wake()
    }

    /// Waits until every request that is being served now has been: what its worker knew when it began is history then.
    /// Never from a worker, nor with a lock held that a request takes.
    func quiesce() {
        for worker in workers { worker.wait() }
    }

    /// Has every worker zero what requests have left in its memory. Returns when all have; the same holds for it.
    /// - Parameter interrupt: interrupts a worker's thread, by its index.
    func wipe(interrupt: (Int) -> Void) {
        let asked = wipes.add(1, ordering: .sequentiallyConsistent).newValue
        while workers.contains(where: { !$0.hasWiped(asked) }) {
            while callAnother() {}
            // Again and again, because a worker may be about to wait when the interruption comes.
            for (index, worker) in workers.enumerated() where !worker.hasWiped(asked) && !worker.isServing {
                interrupt(index)
            }
            usleep(100)
        }
    }

    /// Looks for the next request for as long as it may come without its client having slept.
    private func watch() {
        guard WorkerPool.processors > 1 else { return }
        let end = MonotonicClock.nanoseconds + WorkerPool.watchNanoseconds
        while !session.isStopping, !hasNext(), MonotonicClock.nanoseconds < end { sched_yield() }
    }

    private static let watchNanoseconds: UInt64 = 60_000
    private static let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))

    /// Whether a request is queued.
    private func hasNext() -> Bool {
        var request = pollfd(fd: device, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&request, 1, 0) > 0
    }

    /// Whether a request waits for the host's disk as a rule, or moves many bytes: nobody else's is to wait for it.
    /// - Parameter backlog: requests in a row, this one included, behind each of which another was queued.
    private func mayTakeLong(_ request: UnsafeMutableRawPointer, backlog: Int) -> Bool {
        // struct fuse_in_header begins with the length of the request and its opcode (linux/fuse.h).
        let length = unsafe request.load(as: UInt32.self)
        let opcode = unsafe request.load(fromByteOffset: 4, as: UInt32.self)
        if length > WorkerPool.longRequest || WorkerPool.slowOpcodes.contains(opcode) { return true }
        // Pages that are read ahead are asked for several requests at a time. Of quick requests one in the queue is no
        // reason to wake a processor: closing a file leaves a RELEASE that nobody waits for, before the client's next.
        return backlog >= (opcode == WorkerPool.readOpcode ? 1 : 2)
    }

    /// Whether a request wants no answer and follows no call.
    private static func isForget(_ request: UnsafeMutableRawPointer) -> Bool {
        let opcode = unsafe request.load(fromByteOffset: 4, as: UInt32.self)
        return opcode == forgetOpcode || opcode == batchForgetOpcode
    }

    private static let readOpcode: UInt32 = 15
    private static let forgetOpcode: UInt32 = 2
    private static let batchForgetOpcode: UInt32 = 42

    /// FSYNC, FSYNCDIR, FALLOCATE, COPY_FILE_RANGE.
    private static let slowOpcodes: Set<UInt32> = [20, 30, 43, 47]
    private static let longRequest: UInt32 = 32 * 1024

    /// - Parameter reserve: how many are to stay parked.
    /// - Returns: false when no more than those are.
    @discardableResult
    func callAnother(leaving reserve: Int = 0) -> Bool {
        var seen = parked.load(ordering: .sequentiallyConsistent)
        while seen > reserve {
            let (exchanged, now) = parked.compareExchange(
                expected: seen, desired: seen - 1, ordering: .sequentiallyConsistent)
            if exchanged {
                calls.signal()
                return true
            }
            seen = now
        }
        return false
    }

    /// Waits until another worker calls.
    /// - Returns: false when there will be no request any more.
    private func park() -> Bool {
        parked.add(1, ordering: .sequentiallyConsistent)
        // Whoever ends the session calls those that it finds parked: one that comes later must see the end itself.
        if isOver.load(ordering: .sequentiallyConsistent) { callAnother() }
        calls.wait()
        return !isOver.load(ordering: .sequentiallyConsistent)
    }

    /// - Parameter watching: whether it may come at once.
    /// - Returns: the size of the next request; nil when there will be none any more.
    private func next(_ worker: RequestWorker, watching: Bool) -> Int? {
        while !session.isStopping {
            worker.wipe(asked: wipes.load(ordering: .acquiring))
            if watching { watch() }
            let count = unsafe read(device, worker.memory, RequestWorker.capacity)
            if count > 0 { return count }
            switch errno {
            // ENOENT: the caller was killed before its request was read.
            case EINTR, EAGAIN, ENOENT: continue
            // ENODEV: the last mount is gone. Whatever else it is, reading again would not help.
            default: return nil
            }
        }
        return nil
    }
}
