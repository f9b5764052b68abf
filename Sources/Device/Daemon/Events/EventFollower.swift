// A follower of the event record: the lines that it has, and then each line as it is written.

import AppContainer
import Glibc
import Platform
import SandboxModel

/// The lines of the record for one reader, from the beginning on. Lines for which the reader is too slow are counted,
/// and replaced by one event `missed`.
///
/// Lock: that of its state, below that of ``EventLog``: recording an event never waits for a reader.
final class EventFollower: Sendable {
    /// Bytes that may wait for the reader. The whole record is in its files as well.
    static let largest = 1 << 20

    fileprivate struct State {
        /// Whole lines that wait for the reader.
        var bytes: [UInt8] = []
        /// Lines since the last one that was taken.
        var missed = 0
        var isOver = false
    }

    private let limit: Int
    private let state = AwaitedState(State())
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
        state.change { state in
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
        state.change { $0.isOver = true }
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
        let lines = await state.next { state in
            let lines = state.take()
            return lines.isEmpty && !state.isOver ? nil : lines
        }
        guard let lines, !lines.isEmpty else { return nil }
        return lines
    }
}

extension EventFollower.State {
    /// Takes all lines that wait, and a count of the missed ones.
    fileprivate mutating func take() -> [UInt8] {
        var lines: [UInt8] = []
        swap(&lines, &bytes)
        if missed > 0 {
            var event = Event(.missed)
            event.missed = missed
            lines += EventRecord.line(event)
            missed = 0
        }
        return lines
    }
}
