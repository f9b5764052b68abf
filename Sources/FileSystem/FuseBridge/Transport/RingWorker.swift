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
    let entries: [RingEntry]
    let serving = ServingCount()
    private let device: Int32
    private let context: ThreadContext
    private let memory: PageBuffer
    private var ring = unsafe CRing.ring()
    /// Entries with a request that the kernel delivered beside another's.
    private var delivered: [Int] = []
    /// The errno with which the kernel took an entry back: the worker ends.
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
        delivered.reserveCapacity(entries.count)
    }

    /// Serves requests until the session ends or the entries cannot be registered.
    /// - Parameter occasion: with the other workers, or later.
    func run(_ occasion: RingTransport.Start) {
        // As a worker of /dev/fuse.
        SetIDCapability.drop()
        HostThread.allowInterruption()
        binding.begin()
        let code = unsafe ring_make(&ring, memory.base, UInt32(entries.count))
        occasion.gate.reportMade(code)
        if code == 0, occasion.gate.mayRegister() {
            context.remember()
            let code = register()
            if code == 0 { for entry in entries { entry.queue.add() } }
            occasion.gate.reportRegistered(code)
            if code == 0 {
                if case .beside(let node, _) = occasion { pump(node) }
                while let entry = next() { serve(entry) }
                for entry in entries { entry.queue.remove() }
            }
        }
        wipe(asked: .max)
    }

    /// - Returns: 0, or the errno with which the kernel refused an entry.
    private func register() -> Int32 {
        for index in entries.indices {
            let code = register(index)
            guard code == 0 else { return code }
        }
        return take()
    }

    private func register(_ index: Int) -> Int32 {
        var pieces = unsafe entries[index].memory
        unsafe ring_add_register(&ring, device, &pieces, entries[index].queue.number, UInt64(index))
        let code = submit(0)
        return code == EINTR ? 0 : code
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

    // MARK: The ring

    /// io_uring_enter(2). Repeated while the kernel has no memory for it: a command that it has not seen is a request that
    /// waits for ever.
    /// - Parameter wait: 1 to wait for a completion.
    private func submit(_ wait: UInt32) -> Int32 {
        repeatedly { unsafe ring_submit(&ring, wait) }
    }

    private func repeatedly(_ call: () -> Int32) -> Int32 {
        while true {
            let code = call()
            guard code == EAGAIN || code == EBUSY, !transport.isEnding else { return code }
            usleep(1000)
        }
    }

    /// Takes the completions that there are.
    /// - Returns: 0, or the errno with which the kernel took an entry back, also earlier.
    private func take() -> Int32 {
        var tag: UInt64 = 0
        var result: Int32 = 0
        while unsafe ring_take(&ring, &tag, &result) != 0 {
            let index = Int(tag)
            if result >= 0 {
                entries[index].noteDelivery()
                delivered.append(index)
            } else if RingWorker.endings.contains(-result) {
                failure = -result
            } else {
                // The kernel has given the entry up, and not the connection.
                let code = register(index)
                if code != 0 { failure = code }
            }
        }
        return failure
    }

    /// The mount is gone, or this process is about to be.
    private static let endings: Set<Int32> = [ENOTCONN, ECONNABORTED, ECANCELED, ENODEV]

    // MARK: Waiting for a request

    /// - Returns: an entry with a request; nil if the session has ended.
    private func next() -> RingEntry? {
        var isPatient = true
        while true {
            guard take() == 0, !transport.isEnding else { return nil }
            // Before the next request, which others behind it may follow without end.
            wipe(asked: transport.wipesAsked)
            if let index = delivered.popLast() {
                binding.note(waited: !isPatient)
                return entries[index]
            }
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
        serving.begin()
        defer { serving.end() }
        if let request = unsafe entry.begin() {
            unsafe process(request, entry)
        } else {
            entry.answer(error: EIO)
        }
        guard entry.isAnswered || waitForReply(entry) else { return }
        entry.end()
        unsafe ring_add_commit(&ring, device, entry.commit, entry.queue.number, tag(of: entry))
        entry.queue.free.add(1, ordering: .relaxed)
        guard entry.mustZero else {
            _ = submit(0)
            return
        }
        // The kernel may put the next request of the queue there at once.
        guard repeatedly({ unsafe ring_send(&ring) }) == 0 else { return }
        _ = take()
        entry.wipe()
    }

    private func tag(of entry: RingEntry) -> UInt64 {
        UInt64(entries.firstIndex { $0 === entry } ?? 0)
    }

    private func process(_ request: UnsafeMutableRawBufferPointer, _ entry: RingEntry) {
        let start = request.baseAddress!
        unsafe context.serve(start, of: entry)
        var buffer = unsafe fuse_buf()
        unsafe buffer.mem = start
        unsafe buffer.size = request.count
        binding.whileFree(unsafe RingWorker.isLong(start)) {
            unsafe fuse_session_process_buf(session.connection, &buffer)
        }
        guard !entry.isAnswered else { return }
        // The kernel waits for no reply, but for the commit. Of NOTIFY_REPLY it takes an error alone.
        let opcode = unsafe start.load(fromByteOffset: 4, as: UInt32.self)
        if unsafe WorkerPool.isForget(start) { entry.answer(error: 0) }
        if opcode == RingWorker.notifyReply { entry.answer(error: EIO) }
    }

    private static let notifyReply: UInt32 = 41

    /// Waits until another thread has replied, such as that of the notifications for LSEEK.
    /// - Returns: false if the session is stopping: the kernel then answers itself.
    private func waitForReply(_ entry: RingEntry) -> Bool {
        serving.end()
        // This thread serves none of its entries meanwhile.
        for other in entries where other !== entry { other.queue.free.subtract(1, ordering: .relaxed) }
        defer {
            for other in entries where other !== entry { other.queue.free.add(1, ordering: .relaxed) }
            serving.begin()
        }
        guard entries.allSatisfy({ transport.hasFreeEntry($0.queue, besides: entry.node) }) else {
            entry.answer(error: ENOMEM)
            return true
        }
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
