// Work that takes much memory or time: a few at once, the others in the order in which they came.

import Synchronization

/// Lets so many run at once. The others wait without a thread.
///
/// Lock: its own, a leaf, for moments only.
final class Turns: Sendable {
    private struct State {
        var free: Int
        /// In the order in which they came.
        var waiting: [(number: UInt64, turn: CheckedContinuation<Bool, Never>)] = []
        var last: UInt64 = 0
    }

    private let state: Mutex<State>

    init(_ most: Int) {
        state = Mutex(State(free: most))
    }

    /// Those that wait.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Runs the body when it is its turn.
    /// - Returns: nil when the task was cancelled before; the body has not run then.
    func run<Result>(_ body: () async -> Result) async -> Result? {
        guard await begin() else { return nil }
        defer { end() }
        return await body()
    }

    /// - Returns: false when the task was cancelled before its turn.
    private func begin() async -> Bool {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    guard state.free == 0 else {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((number, turn))
                    return nil
                }
                if let answer { turn.resume(returning: answer) }
            }
        } onCancel: {
            let turn = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).turn }
            }
            turn?.resume(returning: false)
        }
    }

    /// Passes the turn on.
    private func end() {
        let next = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return CheckedContinuation<Bool, Never>?.none
            }
            return state.waiting.removeFirst().turn
        }
        next?.resume(returning: true)
    }
}
