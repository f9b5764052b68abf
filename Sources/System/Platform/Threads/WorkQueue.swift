// Threads for work that blocks. The pool of Swift concurrency has one thread for each processor and must not be
// blocked.

import Dispatch

/// Runs work on threads of its own. Work never waits for other work: as long as all threads are busy, more begins on a
/// new one.
public struct WorkQueue: Sendable {
    public init() {}

    /// Runs the body, which may block, soon and once.
    public func start(_ body: @escaping @Sendable () -> Void) {
        WorkerThreads.shared.run(body)
    }

    /// Runs the body, and suspends the task until it has returned. Cancelling the task does not end the body.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            start { continuation.resume(returning: body()) }
        }
    }
}

/// The threads of all queues. Not those of libdispatch, which starts one a second while all of its own are blocked:
/// twelve requests that block would delay the thirteenth by ten seconds.
private final class WorkerThreads: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        /// Work for threads that are idle; never more than there are.
        var work: [Work] = []
        var idle = 0
    }

    static let shared = WorkerThreads()
    /// Threads that wait for the next work, each for ``idleTime``.
    private static let mostIdle = 4
    /// Nanoseconds.
    private static let idleTime: UInt64 = 5_000_000_000

    private let state = Monitor(State())

    func run(_ work: @escaping Work) {
        let isTaken = state.access { state in
            guard state.idle > state.work.count else { return false }
            state.work.append(work)
            return true
        }
        guard !isTaken else { return }
        do {
            try HostThread(name: "work") { self.loop(from: work) }.detach()
        } catch {
            // No thread could be made; libdispatch has some.
            DispatchQueue.global().async(execute: work)
        }
    }

    private func loop(from first: @escaping Work) {
        first()
        while let work = next() { work() }
    }

    /// Waits for work, unless enough threads do.
    private func next() -> Work? {
        let isNeeded = state.access { state in
            guard state.idle < WorkerThreads.mostIdle else { return false }
            state.idle += 1
            return true
        }
        guard isNeeded else { return nil }
        let deadline = MonotonicClock.nanoseconds + WorkerThreads.idleTime
        // The outer optional is the monitor's: nil goes on waiting.
        let found = state.wait(until: deadline) { state -> Work?? in
            // Work that comes for one thread may be taken by another; as many wait as there is work.
            if state.work.isEmpty, MonotonicClock.nanoseconds < deadline { return nil }
            state.idle -= 1
            return .some(state.work.isEmpty ? nil : state.work.removeFirst())
        }
        return found ?? nil
    }
}
