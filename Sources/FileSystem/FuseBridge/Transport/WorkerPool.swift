// The workers' loop: read a request, hand it to libfuse's parser, answer it, all on one thread.

import CFuse
import Glibc
import Platform
import SandboxModel
import Synchronization

/// State shared by one session's workers. (libfuse's own pool adds about 4 µs a request.)
///
/// One worker at a time waits for a request; the others sleep, or have no thread. So a client that waits for each reply
/// is served by one thread with warm caches, where the kernel would wake all threads in turn. A worker calls another if
/// requests queue up, or before a request that may take long. ``StallDetector`` calls one if a request takes long
/// unexpectedly; only it calls workers in reserve, because many threads with short requests slow each other down.
///
/// The waiting worker polls for a moment before it blocks, because waking a sleeping processor takes longer than most
/// requests: on two idle processors a call takes 0.6 of the time, removing a tree 0.9, unpacking one 0.85. It yields
/// the processor while it polls.
@safe final class WorkerPool: @unchecked Sendable {
    let session: Session
    private let device: Int32
    /// Workers that poll or wait for a request.
    let waiting = Atomic<Int>(0)
    let stalls = StallDetector()
    let threads: WorkerThreads
    private let workers: [RequestWorker]
    /// The number of the last wipe asked for.
    private let wipes = Atomic<UInt64>(0)

    /// - Throws: ENOMEM.
    init(_ session: Session) throws(SystemError) {
        self.session = session
        var workers: [RequestWorker] = []
        for _ in 0..<session.options.workers + session.options.reserve { workers.append(try RequestWorker()) }
        self.workers = workers
        threads = WorkerThreads(workers.count)
        device = unsafe fuse_session_fd(session.connection)
    }

    /// Starts the first worker.
    func start() throws(SystemError) {
        try threads.callFirst { self.serve($0) }
    }

    /// Has one more worker serve.
    /// - Parameter reserve: how many must stay free.
    /// - Returns: false if no more than those are, and if the host has no thread.
    @discardableResult
    func callAnother(leaving reserve: Int = 0) -> Bool {
        threads.call(leaving: reserve) { self.serve($0) }
    }

    /// The body of a worker's thread.
    private func serve(_ index: Int) {
        let worker = workers[index]
        // An end of the session that comes before this line waits for the thread too: it joins them.
        session.beginServing()
        // A root daemon writes on behalf of others: without CAP_FSETID the host clears set-user-ID and set-group-ID
        // bits at a write, as it does for them.
        SetIDCapability.drop()
        HostThread.allowInterruption()
        worker.wake(wiped: wipes.load(ordering: .acquiring))
        let isOver = serveRequests(index, worker)
        worker.rest()
        session.endServing()
        if isOver { session.endOnce() }
    }

    /// Serves requests for as long as there are any.
    /// - Returns: whether the session ends.
    private func serveRequests(_ index: Int, _ worker: RequestWorker) -> Bool {
        var request = unsafe fuse_buf()
        // The worker outlives this function.
        unsafe request.mem = worker.memory
        var backlog = 0
        var forgets = 0
        while true {
            waiting.add(1, ordering: .sequentiallyConsistent)
            // No client waits behind FORGETs in a row: the kernel is shrinking its caches. So polling would be wasted.
            let found = next(worker, spinning: forgets < 2)
            if found != .nothingWhileAnotherWaits {
                let others = waiting.subtract(1, ordering: .sequentiallyConsistent).newValue
                guard case .request(let count) = found else { break }
                stalls.tookRequest(self)
                forgets = unsafe WorkerPool.isForget(request.mem) ? forgets + 1 : 0
                backlog = hasNext() ? backlog + 1 : 0
                if others == 0, unsafe mayTakeLong(request.mem, backlog: backlog) {
                    callAnother(leaving: session.options.reserve)
                }
                unsafe request.size = count
                unsafe serve(&request, worker)
                guard waiting.load(ordering: .sequentiallyConsistent) > 0, !hasNext() else { continue }
            }
            switch threads.sleep(index) {
            case .called: continue
            case .idle: return false
            case .over: return true
            }
        }
        threads.end()
        return true
    }

    private func serve(_ request: inout fuse_buf, _ worker: RequestWorker) {
        let count = unsafe request.size
        worker.begin(count)
        let isInitial = unsafe session.beginNegotiation(UnsafeRawBufferPointer(start: request.mem, count: count))
        unsafe fuse_session_process_buf(session.connection, &request)
        worker.serving.end()
        if isInitial { session.endNegotiation() }
    }

    /// Waits until every request that is being served now is over. Do not call it from a worker, nor with a lock held
    /// that a request takes.
    func quiesce() {
        for worker in workers { worker.serving.wait() }
    }

    /// Has every worker zero its request memory, and waits for it. Do not call it from a worker, nor with a lock held
    /// that a request takes.
    func wipe() {
        let asked = wipes.add(1, ordering: .sequentiallyConsistent).newValue
        while workers.contains(where: { !$0.serving.hasWiped(asked) }) {
            threads.wakeAll()
            // Repeatedly, because a worker may be interrupted just before it blocks.
            for (index, worker) in workers.enumerated() {
                if !worker.serving.hasWiped(asked), !worker.serving.isServing { threads.interrupt(index) }
            }
            usleep(100)
        }
    }

    /// Reads the next request, again and again for as long as it takes an active client to send one. Where reads block,
    /// as over io_uring, it waits.
    /// - Returns: its size; nil if there is none, or for an errno.
    private func read(into worker: RequestWorker, spinning: Bool) -> Int? {
        let mayRepeat = spinning && WorkerPool.processors > 1
        let end = mayRepeat ? MonotonicClock.nanoseconds + WorkerPool.spinNanoseconds : 0
        while true {
            let count = unsafe Glibc.read(device, worker.memory, RequestWorker.capacity)
            if count > 0 { return count }
            guard mayRepeat, errno == EAGAIN, !session.isStopping, MonotonicClock.nanoseconds < end else { return nil }
            sched_yield()
        }
    }

    /// For so long a worker without a request polls.
    static let spinNanoseconds: UInt64 = 60_000
    private static let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))

    /// Waits until a request is queued, or for a signal.
    private func waitForRequest() {
        var request = pollfd(fd: device, events: Int16(POLLIN), revents: 0)
        unsafe poll(&request, 1, -1)
    }

    /// Whether a request is queued.
    private func hasNext() -> Bool {
        var request = pollfd(fd: device, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&request, 1, 0) > 0
    }

    /// Whether other requests should not wait for this one: it waits for the host's disk as a rule, moves many bytes,
    /// or has others queued behind it.
    /// - Parameter backlog: the number of requests in a row, including this one, that had another queued behind.
    private func mayTakeLong(_ request: UnsafeMutableRawPointer, backlog: Int) -> Bool {
        // struct fuse_in_header begins with the length of the request and its opcode (linux/fuse.h).
        let length = unsafe request.load(as: UInt32.self)
        let opcode = unsafe request.load(fromByteOffset: 4, as: UInt32.self)
        if length > WorkerPool.longRequest || WorkerPool.slowOpcodes.contains(opcode) { return true }
        // Read-ahead sends several READs at a time. One other request in the queue is no reason to wake a processor:
        // close(2) leaves a RELEASE, for which no client waits, in front of the client's next request.
        return backlog >= (opcode == WorkerPool.readOpcode ? 1 : 2)
    }

    /// Whether the request is FORGET or BATCH_FORGET, which have no reply and no client.
    static func isForget(_ request: UnsafeMutableRawPointer) -> Bool {
        let opcode = unsafe request.load(fromByteOffset: 4, as: UInt32.self)
        return opcode == forgetOpcode || opcode == batchForgetOpcode
    }

    private static let readOpcode: UInt32 = 15
    private static let forgetOpcode: UInt32 = 2
    private static let batchForgetOpcode: UInt32 = 42

    /// FSYNC, FSYNCDIR, FALLOCATE, COPY_FILE_RANGE.
    private static let slowOpcodes: Set<UInt32> = [20, 30, 43, 47]
    /// Bytes.
    static let longRequest: UInt32 = 32 * 1024

    private enum Next: Equatable {
        /// Its size.
        case request(Int)
        /// The worker does not count among those that wait any more.
        case nothingWhileAnotherWaits
        /// The session has ended.
        case over
    }

    /// Reads the next request.
    /// - Parameter spinning: whether to poll before blocking.
    private func next(_ worker: RequestWorker, spinning: Bool) -> Next {
        while !session.isStopping, !session.hasFailed.load(ordering: .relaxed) {
            worker.wipe(asked: wipes.load(ordering: .acquiring))
            if let count = read(into: worker, spinning: spinning) { return .request(count) }
            switch errno {
            case EAGAIN:
                if leavesWaitingToAnother() { return .nothingWhileAnotherWaits }
                waitForRequest()
            // ENOENT: the caller was killed before its request was read.
            case EINTR, ENOENT: continue
            // ENODEV: the last mount is gone. No other error would go away by reading again.
            case let code:
                guard !session.isDisconnected else { return .over }
                session.fail("no request can be read: \(SystemError(code: code).message)", isReader: true)
                return .over
            }
        }
        return .over
    }

    /// Two that served at once may both have found that nobody waits, and wait both.
    private func leavesWaitingToAnother() -> Bool {
        guard waiting.load(ordering: .sequentiallyConsistent) > 1 else { return false }
        if waiting.subtract(1, ordering: .sequentiallyConsistent).newValue > 0 { return true }
        // The other has left it to this one.
        waiting.add(1, ordering: .sequentiallyConsistent)
        return false
    }
}
