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
    /// Threads that are kept for the next work.
    private static let mostIdle = 4

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
        return state.wait { state in
            guard !state.work.isEmpty else { return nil }
            state.idle -= 1
            return state.work.removeFirst()
        }
    }
}
