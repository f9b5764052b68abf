// State that several threads change and one task waits for.

import Synchronization

/// State with one reader that waits, without a thread, until there is something for it.
///
/// Lock: its own, a leaf, for moments only: a thread that changes the state never waits for the reader.
final class AwaitedState<State: Sendable>: Sendable {
    private struct Content {
        var state: State
        /// Counts the changes, so that none is passed over between a look at the state and the wait for the next.
        var changes: UInt64 = 0
        /// The reader, while it waits.
        var reader: CheckedContinuation<Void, Never>?
    }

    private let content: Mutex<Content>

    init(_ state: State) {
        content = Mutex(Content(state: state))
    }

    /// Changes the state, and wakes the reader.
    func change(_ body: (inout State) -> Void) {
        let reader = content.withLock { content in
            body(&content.state)
            content.changes += 1
            return content.reader.take()
        }
        reader?.resume()
    }

    /// Waits until there is something to take.
    /// - Parameter take: takes it, or returns nil while there is nothing.
    /// - Returns: nil once the task is cancelled.
    func next<Taken: Sendable>(_ take: @Sendable (inout State) -> Taken?) async -> Taken? {
        while !Task.isCancelled {
            let (taken, seen) = content.withLock { (take(&$0.state), $0.changes) }
            if let taken { return taken }
            await waitForChange(after: seen)
        }
        return nil
    }

    private func waitForChange(after seen: UInt64) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let waits = content.withLock { content in
                    guard content.changes == seen, !Task.isCancelled else { return false }
                    content.reader = reader
                    return true
                }
                if !waits { reader.resume() }
            }
        } onCancel: {
            // Wakes the reader, which then sees the cancellation.
            change { _ in }
        }
    }
}
