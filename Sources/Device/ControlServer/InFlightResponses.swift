// Responses that clients still wait for: a process that ends lets them go out first.

import Synchronization

/// Counts the connections that are to get a response.
final class InFlightResponses: Sendable {
    private struct State {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

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

    /// Waits until none is left, or until time is up.
    func drain(for time: Duration) async {
        await withTaskGroup { group in
            group.addTask { await self.waitForAll() }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            resume { _ in true }
            group.cancelAll()
        }
    }

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

    /// Wakes those who wait, if the body says so.
    private func resume(_ body: (inout State) -> Bool) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard body(&state) else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
