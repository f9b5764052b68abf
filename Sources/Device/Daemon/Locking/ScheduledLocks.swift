// The schedule of locks as several threads see it, and the requests that wait for the outcome of a lock.

import Synchronization

/// Guards a ``LockSchedule``, and wakes requests when their lock has happened or was cancelled.
///
/// A request that waits is a continuation and holds no thread, so that any number of them delays no other request.
/// Lock: its own, for moments only. Continuations are resumed without it.
final class ScheduledLocks: Sendable {
    private struct State {
        var schedule = LockSchedule()
        var nextWaiter = 0
        /// The waiting requests, each by a number of its own.
        var waiters: [Int: (lock: Int, continuation: CheckedContinuation<LockSchedule.Outcome?, Never>)] = [:]
    }

    private let state = Mutex(State())

    /// The number of requests that wait.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Looks at the schedule. The body must not wait.
    func read<Result>(_ body: (LockSchedule) -> Result) -> Result {
        state.withLock { body($0.schedule) }
    }

    /// Changes the schedule, and wakes the requests whose lock has an outcome then.
    func change<Result>(_ body: (inout LockSchedule) -> Result) -> Result {
        let (result, woken) = state.withLock { state in
            let result = body(&state.schedule)
            var woken: [(CheckedContinuation<LockSchedule.Outcome?, Never>, LockSchedule.Outcome)] = []
            for (waiter, (lock, continuation)) in state.waiters {
                guard let outcome = state.schedule.outcome(of: lock) else { continue }
                state.waiters[waiter] = nil
                woken.append((continuation, outcome))
            }
            return (result, woken)
        }
        for (continuation, outcome) in woken { continuation.resume(returning: outcome) }
        return result
    }

    /// Waits until a lock has happened or was cancelled.
    /// - Returns: nil when the task was cancelled first: its client has gone.
    func outcome(of lock: Int) async -> LockSchedule.Outcome? {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> LockSchedule.Outcome?? in
                    if let outcome = state.schedule.outcome(of: lock) { return outcome }
                    guard !Task.isCancelled else { return .some(nil) }
                    state.waiters[waiter] = (lock, continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.continuation.resume(returning: nil)
        }
    }
}
