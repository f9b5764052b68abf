// A follower of the event record: the lines that it has, and then each line as it is written.

import AppContainer
import Glibc
import Platform
import SandboxModel
import Synchronization

/// The lines of the record for one reader, from the beginning on. Lines for which the reader is too slow are counted,
/// and replaced by one event `missed`.
///
/// Lock: its own, below that of ``EventLog``, for moments only: recording an event never waits for a reader.
final class EventFollower: Sendable {
    /// Bytes that may wait for the reader. The whole record is in its files as well.
    static let largest = 1 << 20

    private struct State {
        /// Whole lines that wait for the reader.
        var bytes: [UInt8] = []
        /// Lines since the last one that was taken.
        var missed = 0
        var isOver = false
        /// The reader, while it waits.
        var reader: CheckedContinuation<Void, Never>?
    }

    private let limit: Int
    private let state = Mutex(State())
    private let history: EventHistory

    /// - Parameters:
    ///   - history: the lines before the first one that ``append(_:)`` gets.
    ///   - limit: bytes that may wait for the reader.
    init(after history: EventHistory, limit: Int = EventFollower.largest) {
        self.history = history
        self.limit = limit
    }

    /// Takes a line that was written. Returns at once.
    func append(_ line: [UInt8]) {
        change { state in
            // The lines stay in order: after a missed one, none is taken until the reader has its count.
            if state.missed > 0 || state.bytes.count + line.count > limit {
                state.missed += 1
            } else {
                state.bytes += line
            }
        }
    }

    /// Ends the lines; the reader still gets those that wait.
    func end() {
        change { $0.isOver = true }
    }

    /// Changes the state, and wakes the reader.
    private func change(_ body: (inout State) -> Void) {
        let reader = state.withLock { state in
            body(&state)
            return state.reader.take()
        }
        reader?.resume()
    }

    // MARK: The reader

    /// Whole lines, in order, each once; waits for them.
    /// - Returns: nil when none will come any more, or the task was cancelled.
    func next() async -> [UInt8]? {
        // The history first, as its lines are older. It blocks for the time of a read(2), which a local file allows.
        while let lines = history.next() {
            if Task.isCancelled { return nil }
            if !lines.isEmpty { return lines }
        }
        while !Task.isCancelled {
            let (bytes, isOver) = take()
            if !bytes.isEmpty { return bytes }
            if isOver { return nil }
            await withTaskCancellationHandler {
                await withCheckedContinuation { reader in
                    let waits = state.withLock { state in
                        guard state.bytes.isEmpty, state.missed == 0, !state.isOver, !Task.isCancelled else {
                            return false
                        }
                        state.reader = reader
                        return true
                    }
                    if !waits { reader.resume() }
                }
            } onCancel: {
                // Resumes the reader, which then sees the cancellation.
                change { _ in }
            }
        }
        return nil
    }

    /// Takes all lines that wait, and a count of the missed ones.
    private func take() -> (bytes: [UInt8], isOver: Bool) {
        state.withLock { state in
            var bytes: [UInt8] = []
            swap(&bytes, &state.bytes)
            if state.missed > 0 {
                var event = Event(.missed)
                event.missed = state.missed
                bytes += EventRecord.line(event)
                state.missed = 0
            }
            return (bytes, state.isOver)
        }
    }
}
