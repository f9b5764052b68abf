// The responses that clients still wait for, so that a process sends them before it ends.

import Synchronization

/// Counts the connections that are to get a response.
///
/// Lock: its own, for moments only. Continuations are resumed without it.
final class InFlightResponses: Sendable {
    private struct State {
        /// Connections whose response has not gone out.
        var count = 0
        /// Callers of ``drain(for:)``.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// A connection was accepted.
    func begin() {
        state.withLock { $0.count += 1 }
    }

    /// The response has gone out, or the client has gone.
    func end() {
        resume { state in
            state.count -= 1
            return state.count == 0
        }
    }

    /// Waits until no response is left, or time is up.
    func drain(for time: Duration) async {
        await withTaskGroup { group in
            group.addTask { await self.waitForAll() }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            // Wakes the first task after the time limit, as it does not heed cancellation.
            resume { _ in true }
            group.cancelAll()
        }
    }

    /// Waits without a time limit; ``drain(for:)`` wakes it.
    private func waitForAll() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.count > 0 else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Changes the state, and wakes the waiting tasks if the body returns true.
    private func resume(_ body: (inout State) -> Bool) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard body(&state) else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
