// FUSE over io_uring: the workers of a session, and their start and end.

import Glibc
import Platform
import SandboxModel
import Synchronization

/// Each worker has a ring and serves its own entries, so that no request is handed from thread to thread. FORGET,
/// INTERRUPT and notifications stay on /dev/fuse.
///
/// Lock: `members`, a leaf.
@safe final class RingTransport: @unchecked Sendable {
    struct Member {
        let worker: RingWorker
        let thread: HostThread
    }

    /// The occasion at which a worker starts.
    enum Start {
        /// With the session: all rings are made before the first entry is registered.
        case together(RingGate)
        /// Later, since entries are few; the files are regular, and the kernel knows one of them at least.
        case beside([KernelNode], RingGate)

        var gate: RingGate {
            switch self {
            case .together(let gate), .beside(_, let gate): gate
            }
        }
    }

    private unowned let session: Session
    let plan: RingPlan
    let queues: [RingQueue]
    /// Whether a thread may poll: there is another processor for the client.
    let mayPoll: Bool
    let retrievals = RetrievalNumbers()
    private let gate: RingGate
    let members = Mutex<[Member]>([])
    /// The workers of /dev/fuse, whose watch for stalls is that of the queues too.
    private let others: WorkerPool
    /// Set when the connection goes on without rings.
    private let isOver = Atomic<Bool>(false)
    /// The number of the last wipe asked for.
    private let wipes = Atomic<UInt64>(0)

    /// Makes the workers and their rings.
    /// - Throws: the error of a ring, a thread or memory; no thread is left then.
    init(_ session: Session, _ plan: RingPlan, beside others: WorkerPool) throws(SystemError) {
        self.session = session
        self.others = others
        self.plan = plan
        queues = (0..<plan.queueCount).map { RingQueue(UInt16($0)) }
        mayPoll = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1
        gate = RingGate(plan.workers.count)
        do throws(SystemError) {
            for worker in plan.workers { _ = try start(worker, .together(gate)) }
            try gate.waitUntilMade()
        } catch {
            giveUp()
            throw error
        }
    }

    private func start(_ plan: RingPlan.Worker, _ occasion: Start) throws(SystemError) -> Member {
        let worker = try RingWorker(plan, payload: self.plan.payload, of: self, in: session)
        // Under the lock, so that `join` finds every thread that runs.
        return try members.withLock { members throws(SystemError) -> Member in
            guard !isEnding else { throw SystemError(code: ECANCELED) }
            session.beginServing()
            do throws(SystemError) {
                let thread = try HostThread(name: "fuse-ring-\(members.count)") { [session] in
                    worker.run(occasion)
                    // The end of the session is carried out by others: it joins this thread, and the kernel may have
                    // given it requests until its ring is closed.
                    session.endServing()
                }
                let member = Member(worker: worker, thread: thread)
                members.append(member)
                return member
            } catch {
                session.endServing()
                throw error
            }
        }
    }

    /// Gives the entries to the kernel. From now on requests come by them.
    /// - Throws: the kernel's refusal, after which it goes on by /dev/fuse.
    func register() throws(SystemError) {
        do throws(SystemError) {
            try gate.register()
        } catch {
            // The kernel uses the rings as soon as every queue has an entry, though others failed.
            if queues.contains(where: \.isEmpty) { throw error }
        }
    }

    /// Ends the workers of a connection that goes on without rings.
    func giveUp() {
        isOver.store(true, ordering: .sequentiallyConsistent)
        gate.giveUp()
        // Repeatedly, because a worker may be interrupted just before it waits.
        while members.withLock({ $0.contains { !$0.worker.serving.hasWiped(.max) } }) {
            interrupt()
            usleep(100)
        }
        join()
    }

    /// Whether workers are to end.
    var isEnding: Bool { session.isStopping || isOver.load(ordering: .relaxed) }

    /// Joins the workers, which have ended or are about to.
    func join() {
        // Off the list first, because `interrupt` reaches the threads on the list.
        let ended = members.withLock { members in
            defer { members = [] }
            return members
        }
        for member in ended { member.thread.join() }
    }

    /// Interrupts every worker that waits.
    func interrupt() {
        members.withLock { members in
            for member in members { RingTransport.wake(member) }
        }
    }

    private static func wake(_ member: Member) {
        member.thread.interrupt()
        for entry in member.worker.entries { entry.late.access { _ in } }
    }

    // MARK: Replies of other threads

    /// - Parameter reply: with its header.
    /// - Returns: false if the request did not come by an entry.
    func answerLate(_ unique: UInt64, _ reply: [UInt8]) -> Bool {
        let entry = members.withLock { members in
            members.lazy.flatMap(\.worker.entries).first { $0.serves(unique) }
        }
        return entry?.answerLate(unique, reply) ?? false
    }

    /// Whether an entry of the queue is free. The kernel may need one for a reply that a thread waits for, so a worker
    /// is added where they are few.
    /// - Parameter file: regular, and known to the kernel.
    /// - Returns: false if there is none, and none could be added.
    func hasFreeEntry(_ queue: RingQueue, besides file: KernelNode) -> Bool {
        queue.free.load(ordering: .relaxed) >= 2 || addWorker(to: queue, [file])
    }

    /// - Parameter files: as of ``Start/beside(_:_:)``.
    /// - Returns: false if there are too many, or the host has no memory or thread for it.
    func addWorker(to queue: RingQueue, _ files: [KernelNode]) -> Bool {
        guard members.withLock({ $0.count }) < plan.workers.count + RingTransport.mostAdded else { return false }
        let processor = plan.workers.first { $0.queues == [queue.number] }?.processor
        let gate = RingGate(1)
        guard
            let added = try? start(RingPlan.Worker(processor: processor, queues: [queue.number]), .beside(files, gate))
        else { return false }
        do throws(SystemError) {
            try gate.waitUntilMade()
            try gate.register()
            return true
        } catch {
            gate.giveUp()
            members.withLock { $0.removeAll { $0.worker === added.worker } }
            added.thread.join()
            return false
        }
    }

    /// Workers beside those of the plan: each has a thread for a client that waits.
    private static let mostAdded = 1024

    /// Has the thread that watches for stalls look at the queues.
    @inline(__always)
    func watch() { others.stalls.begin(others) }

    // MARK: Quiet

    var wipesAsked: UInt64 { wipes.load(ordering: .acquiring) }

    /// Waits until every request that is being served now is over.
    func quiesce() {
        for worker in members.withLock({ $0.map(\.worker) }) { worker.serving.wait() }
    }

    /// Has every worker zero its memory, and waits for it.
    func wipe() {
        let asked = wipes.add(1, ordering: .sequentiallyConsistent).newValue
        while true {
            let isDone = members.withLock { members in
                let owing = members.filter { !$0.worker.serving.hasWiped(asked) }
                // Repeatedly, because a worker may be interrupted just before it waits.
                for member in owing where !member.worker.serving.isServing { RingTransport.wake(member) }
                return owing.isEmpty
            }
            if isDone { return }
            usleep(100)
        }
    }
}
