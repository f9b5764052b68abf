// A value whose changes tasks can wait for, as threads can with Monitor of Platform.

import Synchronization

/// A value that changes at one place of a test and is waited for at another.
public final class Awaited<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var next = 0
        var waiting: [Int: (isMet: @Sendable (Value) -> Bool, task: CheckedContinuation<Void, any Error>)] = [:]
    }

    private let state: Mutex<State>

    public init(_ value: Value) { state = Mutex(State(value: value)) }

    public var value: Value { state.withLock { $0.value } }

    public func change(_ body: (inout Value) -> Void) {
        let met = state.withLock { state in
            body(&state.value)
            let met = state.waiting.filter { $0.value.isMet(state.value) }
            for number in met.keys { state.waiting[number] = nil }
            return met.values.map(\.task)
        }
        for task in met { task.resume() }
    }

    /// Returns when the value is as wanted, also if it changes again at once.
    /// - Throws: `CancellationError`.
    public func wait(until isMet: @escaping @Sendable (Value) -> Bool) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { task in
                let isOver: Result<Void, any Error>? = state.withLock { state in
                    if isMet(state.value) { return .success(()) }
                    // Looked at with the lock held, so that a cancellation finds the task in the table or is seen here.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiting[number] = (isMet, task)
                    return nil
                }
                if let isOver { task.resume(with: isOver) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.task.resume(throwing: CancellationError())
        }
    }
}
