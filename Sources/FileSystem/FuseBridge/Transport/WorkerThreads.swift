// The threads of a pool's workers: made when there is work for them, and ended after a quiet while.

import Glibc
import Platform
import SandboxModel
import Synchronization

/// A worker has a thread as long as there is work for it, and for a while after that. One always has: the
/// worker that waits for a request does not sleep.
///
/// Lock: `state`, a leaf, held while a thread is made, and while one that has nothing left to do ends.
final class WorkerThreads: Sendable {
    private struct State {
        /// By worker. A thread that has ended is joined before its worker gets another.
        var threads: [HostThread?]
        /// The workers without a thread, the next one last.
        var idle: [Int]
        var isOver = false
    }

    private let state: Mutex<State>
    /// Workers that can be called: they sleep, or have no thread.
    private let free: Atomic<Int>
    /// Workers that sleep and have not been called.
    private let asleep = Atomic<Int>(0)
    private let calls = Semaphore()
    private let ended = Atomic<Bool>(false)

    /// For so long a worker waits to be called.
    private let quietMilliseconds: Int

    init(_ count: Int, quietMilliseconds: Int = 5000) {
        self.quietMilliseconds = quietMilliseconds
        state = Mutex(State(threads: Array(repeating: nil, count: count), idle: (0..<count).reversed()))
        free = Atomic(count)
    }

    // MARK: Calling

    /// Has one more worker serve: wakes one that sleeps, or makes a thread.
    /// - Parameters:
    ///   - reserve: how many must stay free.
    ///   - body: for a new thread, with the worker's number.
    /// - Returns: false if no more than those are free, after the end, and if the host has no thread.
    @discardableResult
    func call(leaving reserve: Int, _ body: @escaping @Sendable (Int) -> Void) -> Bool {
        guard WorkerThreads.take(free, leaving: reserve) else { return false }
        if WorkerThreads.take(asleep, leaving: 0) {
            calls.signal()
            return true
        }
        do throws(SystemError) {
            try make(body)
            return true
        } catch {
            free.add(1, ordering: .sequentiallyConsistent)
            return false
        }
    }

    /// Has a first worker serve.
    func callFirst(_ body: @escaping @Sendable (Int) -> Void) throws(SystemError) {
        free.subtract(1, ordering: .sequentiallyConsistent)
        try make(body)
    }

    private func make(_ body: @escaping @Sendable (Int) -> Void) throws(SystemError) {
        try state.withLock { state throws(SystemError) in
            guard !state.isOver, let worker = state.idle.popLast() else { throw SystemError(code: ECANCELED) }
            state.threads[worker]?.join()
            state.threads[worker] = nil
            do throws(SystemError) {
                state.threads[worker] = try HostThread(name: "fuse-\(worker)") { body(worker) }
            } catch {
                state.idle.append(worker)
                throw error
            }
        }
    }

    /// Takes one of a number, unless no more than some are left.
    private static func take(_ number: borrowing Atomic<Int>, leaving reserve: Int) -> Bool {
        var seen = number.load(ordering: .sequentiallyConsistent)
        while seen > reserve {
            let (exchanged, now) = number.compareExchange(
                expected: seen, desired: seen - 1, ordering: .sequentiallyConsistent)
            if exchanged { return true }
            seen = now
        }
        return false
    }

    // MARK: Sleeping

    enum Awakening {
        case called
        /// There was no work for a while: the thread is to end.
        case idle
        /// There will be no more work.
        case over
    }

    /// Waits until the worker is called.
    func sleep(_ worker: Int) -> Awakening {
        asleep.add(1, ordering: .sequentiallyConsistent)
        free.add(1, ordering: .sequentiallyConsistent)
        // ``end()`` wakes those that it finds asleep: one that comes later must see the end itself.
        if isOver, WorkerThreads.take(asleep, leaving: 0) { return .over }
        if !calls.wait(milliseconds: quietMilliseconds) {
            if goesIdle(worker) { return .idle }
            // All that sleep have been called.
            calls.wait()
        }
        return isOver ? .over : .called
    }

    private func goesIdle(_ worker: Int) -> Bool {
        // Under the lock, so that a caller who finds none asleep finds the worker without a thread.
        state.withLock { state in
            guard WorkerThreads.take(asleep, leaving: 0) else { return false }
            state.idle.append(worker)
            return true
        }
    }

    /// Wakes all that sleep.
    func wakeAll() {
        while WorkerThreads.take(asleep, leaving: 0) {
            // A worker counts as asleep before it counts as free, so that the number of those may fall below zero for a
            // moment: nobody is called then.
            free.subtract(1, ordering: .sequentiallyConsistent)
            calls.signal()
        }
    }

    // MARK: The end

    /// Whether the session has ended.
    var isOver: Bool { ended.load(ordering: .sequentiallyConsistent) }

    /// Ends the threads: those asleep at once, the others after their request.
    func end() {
        ended.store(true, ordering: .sequentiallyConsistent)
        while WorkerThreads.take(asleep, leaving: 0) { calls.signal() }
    }

    /// Joins the threads, which have ended or are about to, but for the calling one. No further one is made.
    func join() {
        let threads = state.withLock { state in
            defer { state.threads = [] }
            state.isOver = true
            return state.threads
        }
        for thread in threads { thread?.join() }
    }

    /// Interrupts a worker's system call; nil for those of all.
    func interrupt(_ worker: Int? = nil) {
        state.withLock { state in
            for (index, thread) in state.threads.enumerated() where worker == nil || index == worker {
                thread?.interrupt()
            }
        }
    }
}
