// One worker of a connection over io_uring: a thread with a ring, which serves the requests of its entries.

import CFuse
import CRing
import Glibc
import Platform
import SandboxModel
import Synchronization

/// Used by its own thread, but for `serving` and the entries' late replies.
///
/// The kernel gives a request to the entry that was free last. So a client that waits for each reply is served by one
/// thread with warm caches, on the client's own processor.
@safe final class RingWorker: @unchecked Sendable {
    private let session: Session
    private unowned let transport: RingTransport
    private var binding: ProcessorBinding
    private var polling = PollingHabit()
    let entries: [RingEntry]
    let serving = ServingCount()
    private let device: Int32
    private let context: ThreadContext
    private let counts = RequestCounts.take()
    private let memory: PageBuffer
    private var ring = unsafe CRing.ring()
    /// Entries with a request that has not begun.
    private var delivered = Deliveries()
    /// Entries whose replies other threads give, of a worker with several: it serves the others meanwhile.
    private var waiting: [RingEntry] = []
    /// The errno with which the kernel refused a command, after which nobody may serve the entry: the worker ends.
    private var refusal: Int32 = 0
    /// The errno with which io_uring_enter failed for good.
    private var failure: Int32 = 0

    /// - Throws: ENOMEM.
    init(_ plan: RingPlan.Worker, payload: Int, of transport: RingTransport, in session: Session) throws(SystemError) {
        self.session = session
        self.transport = transport
        binding = ProcessorBinding(plan.processor)
        device = unsafe fuse_session_fd(session.connection)
        memory = try PageBuffer(mapping: Int(RING_MEMORY))
        var entries: [RingEntry] = []
        for queue in plan.queues { entries.append(try RingEntry(transport.queues[Int(queue)], payload: payload)) }
        self.entries = entries
        context = unsafe ThreadContext(UnsafeRawPointer(memory.base))
    }

    deinit {
        RequestCounts.giveBack(counts)
    }

    /// Serves requests until the session ends or the entries cannot be registered.
    /// - Parameter occasion: with the other workers, or later.
    func run(_ occasion: RingTransport.Start) {
        // As a worker of /dev/fuse.
        SetIDCapability.drop()
        HostThread.allowInterruption()
        let code = makeRing()
        occasion.gate.reportMade(code)
        if code == 0, occasion.gate.mayRegister() {
            context.remember()
            let code = register()
            if code == 0 { for entry in entries { entry.queue.add() } }
            occasion.gate.reportRegistered(code)
            if code == 0 {
                if case .beside(let files, _) = occasion { pump(files) }
                binding.begin()
                while let entry = next() { serve(entry) }
                for entry in entries { entry.queue.remove() }
                reportEnd()
            }
        }
        wipe(asked: .max)
        ThreadContext.forget()
    }

    /// Makes the ring and enters it once: a process that may not (seccomp(2)) has to know before the kernel counts on
    /// it.
    /// - Returns: 0, or an errno.
    private func makeRing() -> Int32 {
        let code = unsafe ring_make(&ring, memory.base, UInt32(entries.count))
        guard code == 0 else { return code }
        return submit(0) ? 0 : failure
    }

    /// - Returns: 0, or the errno with which the kernel refused an entry.
    private func register() -> Int32 {
        for index in entries.indices {
            var pieces = unsafe entries[index].memory
            unsafe ring_add_register(&ring, device, &pieces, entries[index].queue.number, UInt64(index))
            guard submit(0) else { return failure }
            take()
            guard refusal == 0 else { return refusal }
        }
        return 0
    }

    /// Tells the session of an end that nobody wanted: the requests of these entries would wait for ever.
    private func reportEnd() {
        guard !transport.isEnding else { return }
        // Also if the kernel refused a command because the connection was about to end.
        guard !session.isDisconnected else { return }
        let step = failure != 0 ? "io_uring_enter" : "a command over io_uring"
        let error = SystemError(code: failure != 0 ? failure : refusal)
        session.fail("\(step) failed: \(error.message)", isReader: false)
    }

    /// Has the kernel look at the queue of an entry that was added later. It gives a request that came while no entry
    /// was free to the next one that commits, and not to a new one: so it is asked to send something
    /// (FUSE_NOTIFY_RETRIEVE of no bytes, which brings a NOTIFY_REPLY), from the queue's processor.
    /// - Parameter files: regular ones, at least one of which the kernel knows. Without one, the next request that
    ///   comes by itself does.
    private func pump(_ files: [KernelNode]) {
        for entry in entries where Processors.bindThread(to: Int(entry.queue.number)) {
            // It fails for a file that is forgotten, and where the connection has ended.
            _ = files.first { sendRetrieval(transport.retrievals.next(), of: $0, to: device) == 0 }
        }
        Processors.releaseThread()
    }

    /// The request that is served, or one of those whose replies are late; 0 if there is none. Any thread may ask.
    var request: UInt64 {
        for entry in entries {
            let request = entry.requestNumber
            if request != 0 { return request }
        }
        return 0
    }

    // MARK: The ring

    /// io_uring_enter(2).
    /// - Parameter wait: 1 to wait for a completion, or a signal.
    /// - Returns: false if it has failed for good.
    private func submit(_ wait: UInt32) -> Bool {
        enter { unsafe ring_submit(&ring, wait) }
    }

    /// Repeats the call while the kernel has no memory for it: a command that it has not seen is a request that waits
    /// for ever.
    private func enter(_ call: () -> Int32) -> Bool {
        while true {
            let code = call()
            switch code {
            // By a signal the kernel has taken the commands, and the caller looks whether it is to end.
            case 0, EINTR: return true
            case EAGAIN, EBUSY: if transport.isEnding { return true }
            default:
                failure = code
                return false
            }
            usleep(1000)
        }
    }

    /// Takes the completions that there are.
    private func take() {
        var tag: UInt64 = 0
        var result: Int32 = 0
        while unsafe ring_take(&ring, &tag, &result) != 0 {
            if result >= 0 {
                entries[Int(tag)].noteDelivery()
                delivered.append(Int(tag))
            } else {
                refusal = -result
            }
        }
    }

    private var hasFailed: Bool { failure != 0 || refusal != 0 }

    // MARK: Waiting for a request

    /// - Returns: an entry with a request; nil if the session has ended.
    private func next() -> RingEntry? {
        var isPatient = true
        while true {
            take()
            guard !hasFailed, !transport.isEnding else { return nil }
            // Before the next request, which others behind it may follow without end.
            wipe(asked: transport.wipesAsked)
            sendLateReplies()
            if let index = delivered.next() {
                // One whose process waits for the reply is no backlog, however many of them there are.
                binding.note(queuedUp: isPatient && !entries[index].isAwaited)
                return entries[index]
            }
            if isPatient {
                spin()
                isPatient = false
            }
            let mayWait = unsafe ring_has_news(&ring) == 0
            guard submit(mayWait && waiting.isEmpty ? 1 : 0) else { return nil }
            // A late reply wakes no thread that is in io_uring_enter.
            if mayWait, !waiting.isEmpty { usleep(500) }
        }
    }

    /// Polls for as long as it takes an active client to send its next request, as a worker of /dev/fuse does. It stops
    /// when another entry of its queue becomes free, for the kernel gives that one the next request.
    private func spin() {
        guard transport.mayPoll, polling.begins() else { return }
        let queue = entries[0].queue
        let poll = queue.beginPolling()
        let end = MonotonicClock.nanoseconds + WorkerPool.spinNanoseconds
        while unsafe ring_has_news(&ring) == 0, queue.isPolled(poll), !transport.isEnding,
            MonotonicClock.nanoseconds < end
        {
            sched_yield()
        }
        polling.end(found: unsafe ring_has_news(&ring) != 0)
    }

    // MARK: Serving

    private func serve(_ entry: RingEntry) {
        let free = entry.queue.free.subtract(1, ordering: .sequentiallyConsistent).newValue
        // A thread of several entries keeps those of the others waiting too.
        if free == 0 || entries.count > 1 { transport.watch() }
        serving.begin()
        defer { serving.end() }
        if let request = unsafe entry.begin() {
            unsafe process(request, entry)
        } else {
            entry.answer(error: EIO)
        }
        if entry.isAnswered || waitForReply(entry) { commit(entry) }
    }

    private func commit(_ entry: RingEntry) {
        entry.end()
        unsafe ring_add_commit(&ring, device, entry.commit, entry.queue.number, tag(of: entry))
        entry.queue.free.add(1, ordering: .relaxed)
        guard entry.mustZero else {
            _ = submit(0)
            return
        }
        // The kernel may put the next request of the queue there at once.
        guard enter({ unsafe ring_send(&ring) }) else { return }
        take()
        entry.wipe()
    }

    private func tag(of entry: RingEntry) -> UInt64 {
        UInt64(entries.firstIndex { $0 === entry } ?? 0)
    }

    private func process(_ request: UnsafeMutableRawBufferPointer, _ entry: RingEntry) {
        let start = request.baseAddress!
        unsafe context.serve(start, of: entry)
        // libfuse knows no retrieval of ours. Of the answer the kernel takes an error alone.
        let opcode = unsafe start.load(fromByteOffset: 4, as: UInt32.self)
        counts.add(opcode)
        if opcode == RingWorker.notifyReply { return entry.answer(error: EIO) }
        var buffer = unsafe fuse_buf()
        unsafe buffer.mem = start
        unsafe buffer.size = request.count
        if unsafe RingWorker.isLong(start) { binding.noteLong() }
        unsafe fuse_session_process_buf(session.connection, &buffer)
        // The kernel waits for no reply, but for the commit.
        if !entry.isAnswered, unsafe WorkerPool.isForget(start) { entry.answer(error: 0) }
    }

    private static let notifyReply: UInt32 = 41

    /// Waits until another thread has replied, such as that of the notifications for LSEEK.
    /// - Returns: false if there is none yet and other entries are to be served meanwhile, or if the session is
    ///   stopping: the kernel then answers itself.
    private func waitForReply(_ entry: RingEntry) -> Bool {
        serving.end()
        defer { serving.begin() }
        guard transport.hasFreeEntry(entry.queue, besides: entry.node) else {
            entry.answer(error: ENOMEM)
            return true
        }
        guard entries.count == 1 else {
            waiting.append(entry)
            return false
        }
        while true {
            let reply: [UInt8]?? = entry.late.wait { late in
                if let reply = entry.take(&late) { return .some(reply) }
                return transport.isEnding || serving.owesWipe(transport.wipesAsked) ? .some(nil) : nil
            }
            if case .some(.some(let reply)) = reply {
                entry.answer(late: reply)
                return true
            }
            guard !transport.isEnding else { return false }
            wipe(asked: transport.wipesAsked)
        }
    }

    private func sendLateReplies() {
        guard !waiting.isEmpty else { return }
        serving.begin()
        defer { serving.end() }
        waiting.removeAll { entry in
            guard let reply = entry.late.access({ entry.take(&$0) }) else { return false }
            entry.answer(late: reply)
            commit(entry)
            return true
        }
    }

    /// Whether the request is a READ or WRITE of many bytes: their number is at 16 of fuse_read_in and of fuse_write_in
    /// (linux/fuse.h).
    private static func isLong(_ request: UnsafeMutableRawPointer) -> Bool {
        let opcode = unsafe request.load(fromByteOffset: 4, as: UInt32.self)
        guard opcode == 15 || opcode == 16 else { return false }
        return unsafe request.load(fromByteOffset: 40 + 16, as: UInt32.self) > WorkerPool.longRequest
    }

    // MARK: Wiping

    /// Zeroes what requests have left in the entries, and on the stack: the kernel keeps registers there at a signal.
    private func wipe(asked: UInt64) {
        guard serving.owesWipe(asked) else { return }
        for entry in entries { entry.wipe() }
        HostThread.wipeStack()
        serving.didWipe(asked)
    }
}
