// One worker of a connection over io_uring: a thread with a ring, which serves the requests of its entries.

import CFuse
import CRing
import Glibc
import Platform
import SandboxModel
import Synchronization

/// Used by its own thread, but for `serving`, the entries' late replies and `thread`.
///
/// The kernel gives a request to the entry that was free last. So a client that waits for each reply is served by one
/// thread with warm caches, on the client's own processor.
@safe final class RingWorker: @unchecked Sendable {
    private let session: Session
    private unowned let transport: RingTransport
    private let processor: Int?
    let entries: [RingEntry]
    let serving = ServingCount()
    /// The thread as gettid(2) returns it; 0 before it runs.
    let thread = Atomic<pid_t>(0)
    private let device: Int32
    private let context: ThreadContext
    private let memory: PageBuffer
    private var ring = unsafe CRing.ring()
    /// Entries with a request that the kernel delivered beside another's.
    private var delivered: [Int] = []

    /// - Throws: ENOMEM.
    init(_ plan: RingPlan.Worker, payload: Int, of transport: RingTransport, in session: Session) throws(SystemError) {
        self.session = session
        self.transport = transport
        processor = plan.processor
        device = unsafe fuse_session_fd(session.connection)
        memory = try PageBuffer(mapping: Int(RING_MEMORY))
        var entries: [RingEntry] = []
        for queue in plan.queues { entries.append(try RingEntry(transport.queues[Int(queue)], payload: payload)) }
        self.entries = entries
        context = unsafe ThreadContext(UnsafeRawPointer(memory.base))
        delivered.reserveCapacity(entries.count)
    }

    /// Serves requests until the session ends or the entries cannot be registered.
    /// - Parameter start: with the other workers, or later.
    func run(_ start: RingTransport.Start) {
        let gate = start.gate
        thread.store(HostThread.currentNumber, ordering: .relaxed)
        // As a worker of /dev/fuse.
        SetIDCapability.drop()
        HostThread.allowInterruption()
        if let processor { Processors.bindThread(to: processor) }
        let code = unsafe ring_make(&ring, memory.base, UInt32(entries.count))
        gate?.reportMade(code)
        if code == 0, gate?.mayRegister() ?? true {
            context.remember()
            let code = register()
            gate?.reportRegistered(code)
            if code == 0 {
                if case .beside(let node) = start { pump(node) }
                for entry in entries { entry.queue.free.add(1, ordering: .relaxed) }
                while let entry = next() { serve(entry) }
                for entry in entries { entry.queue.free.subtract(1, ordering: .relaxed) }
            }
        }
        wipe(asked: .max)
    }

    /// - Returns: 0, or the errno with which the kernel refused an entry.
    private func register() -> Int32 {
        for (index, entry) in entries.enumerated() {
            var pieces = unsafe entry.memory
            unsafe ring_add_register(&ring, device, &pieces, entry.queue.number, UInt64(index))
            let code = submit(0)
            guard code == 0 || code == EINTR else { return code }
        }
        return take()
    }

    /// Has the kernel look at the queue of an entry that was added later. It gives a request that came while no entry was
    /// free to the next one that commits, and not to a new one: so it is asked to send something (FUSE_NOTIFY_RETRIEVE of
    /// no bytes, which brings a NOTIFY_REPLY), from the queue's processor.
    /// - Parameter node: a regular file that the kernel knows.
    private func pump(_ node: KernelNode) {
        for entry in entries where Processors.bindThread(to: Int(entry.queue.number)) {
            unsafe fuse_lowlevel_notify_retrieve(session.connection, node.rawValue, 0, 0, nil)
        }
        Processors.releaseThread()
    }

    /// io_uring_enter(2). Repeated while the kernel has no memory for it: a command that it has not seen is a request that
    /// waits for ever.
    /// - Parameter wait: 1 to wait for a completion.
    private func submit(_ wait: UInt32) -> Int32 {
        while true {
            let code = unsafe ring_submit(&ring, wait)
            guard code == EAGAIN || code == EBUSY else { return code }
            usleep(1000)
        }
    }

    /// Takes the completions that there are.
    /// - Returns: 0, or the errno with which the kernel took an entry back: the mount is gone.
    private func take() -> Int32 {
        var tag: UInt64 = 0
        var result: Int32 = 0
        while unsafe ring_take(&ring, &tag, &result) != 0 {
            guard result >= 0 else { return -result }
            delivered.append(Int(tag))
        }
        return 0
    }

    // MARK: Waiting for a request

    /// - Returns: an entry with a request; nil if the session has ended.
    private func next() -> RingEntry? {
        var isPatient = true
        while true {
            guard take() == 0 else { return nil }
            if let index = delivered.popLast() { return entries[index] }
            guard !transport.isEnding else { return nil }
            wipe(asked: transport.wipesAsked)
            if isPatient {
                spin()
                isPatient = false
            }
            let code = submit(unsafe ring_has_news(&ring) != 0 ? 0 : 1)
            guard code == 0 || code == EINTR else { return nil }
        }
    }

    /// Polls for as long as it takes an active client to send its next request, as a worker of /dev/fuse does.
    private func spin() {
        guard transport.mayPoll else { return }
        let end = MonotonicClock.nanoseconds + WorkerPool.spinNanoseconds
        while unsafe ring_has_news(&ring) == 0, !transport.isEnding, MonotonicClock.nanoseconds < end { sched_yield() }
    }

    // MARK: Serving

    private func serve(_ entry: RingEntry) {
        entry.queue.free.subtract(1, ordering: .relaxed)
        if let request = unsafe entry.begin() {
            unsafe process(request, entry)
        } else {
            entry.answer(error: EIO)
        }
        guard entry.isAnswered || waitForReply(entry) else { return }
        entry.end()
        unsafe ring_add_commit(&ring, device, entry.commit, entry.queue.number, tag(of: entry))
        entry.queue.free.add(1, ordering: .relaxed)
        guard entry.mustZero else { return _ = submit(0) }
        // The next request must not be there yet.
        _ = unsafe ring_send(&ring)
        entry.wipe()
    }

    private func tag(of entry: RingEntry) -> UInt64 {
        UInt64(entries.firstIndex { $0 === entry } ?? 0)
    }

    private func process(_ request: UnsafeMutableRawBufferPointer, _ entry: RingEntry) {
        let start = request.baseAddress!
        // The processor is for the requests behind this one.
        let isLong = unsafe RingWorker.isLong(start)
        if isLong, processor != nil { Processors.releaseThread() }
        unsafe context.serve(start, of: entry)
        var buffer = unsafe fuse_buf()
        unsafe buffer.mem = start
        unsafe buffer.size = request.count
        serving.begin()
        unsafe fuse_session_process_buf(session.connection, &buffer)
        serving.end()
        if isLong, let processor { Processors.bindThread(to: processor) }
        if !entry.isAnswered, unsafe RingWorker.hasNoReply(start) { entry.answer(error: 0) }
    }

    /// FORGET, which the kernel sends here for an entry of READDIRPLUS that it did not take, and NOTIFY_REPLY. The entry is
    /// committed all the same.
    private static func hasNoReply(_ request: UnsafeMutableRawPointer) -> Bool {
        let opcode = unsafe request.load(fromByteOffset: 4, as: UInt32.self)
        return unsafe WorkerPool.isForget(request) || opcode == 41
    }

    /// Waits until another thread has replied, such as that of the notifications for LSEEK.
    /// - Returns: false if the session is stopping: the kernel then answers itself.
    private func waitForReply(_ entry: RingEntry) -> Bool {
        transport.entryWaits(entry.queue, entry.node)
        while true {
            let reply: [UInt8]?? = entry.late.wait { late in
                if let late { return .some(late) }
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

    /// READ and WRITE of many bytes. Each has more than one argument of 4 bytes at this offset: size
    /// (fuse_read_in and fuse_write_in of linux/fuse.h).
    private static func isLong(_ request: UnsafeMutableRawPointer) -> Bool {
        let opcode = unsafe request.load(fromByteOffset: 4, as: UInt32.self)
        guard opcode == 15 || opcode == 16 else { return false }
        return unsafe request.load(fromByteOffset: 40 + 16, as: UInt32.self) > WorkerPool.longRequest
    }

    // MARK: Wiping

    /// Zeroes what requests have left in the entries, and on the stack: the kernel keeps the registers there at a signal.
    private func wipe(asked: UInt64) {
        guard serving.owesWipe(asked) else { return }
        for entry in entries { entry.wipe() }
        HostThread.wipeStack()
        serving.didWipe(asked)
    }
}
