// The refusals that the failures of a test have told so far, and the time that this has taken.

import AppContainer
import Platform
import Synchronization

/// Has each failure of one test tell the refusals that no earlier one has told. A failure is recorded by a thread that
/// cannot suspend, so the time for it is limited: a loop of failures reads the record for two seconds in all.
///
/// Lock: its own, while a record is read. Another failure at the same time waits for its turn.
final class ToldRefusals: Sendable {
    private struct State {
        /// The number of equal events that were told.
        var events: [Event: Int] = [:]
        /// Nanoseconds that readings have taken.
        var spent: UInt64 = 0
        /// Whether there is nothing to add to a failure from now on.
        var isOver = false

        /// The refusals that were not told, which are from now on. Some may be equal: the time has only milliseconds.
        mutating func news(in refusals: [Event]) -> [Event] {
            var before = events
            let news = refusals.filter { refusal in
                guard let count = before[refusal], count > 0 else { return true }
                before[refusal] = count - 1
                return false
            }
            for refusal in news { events[refusal, default: 0] += 1 }
            return news
        }
    }

    /// Nanoseconds for all readings together.
    private static let longest: UInt64 = 2_000_000_000
    private static let end =
        "refused calls are not looked for any more: this took two seconds in this test; the later ones are in its events"

    private let state = Mutex(State())

    /// The lines of the next failure. Blocks the thread until the record is there.
    /// - Parameters:
    ///   - expected: what the test has expected, which is no news.
    ///   - record: reads the events of the test. Cancelled when it takes too long.
    /// - Returns: none if the record cannot be read in time.
    func lines(
        but expected: ExpectedRefusals, in record: @escaping @Sendable () async throws -> [Event]
    ) -> [String] {
        state.withLock { state in
            guard !state.isOver else { return [] }
            guard state.spent < ToldRefusals.longest else {
                state.isOver = true
                return [ToldRefusals.end]
            }
            let start = MonotonicClock.nanoseconds
            let result = BlockingTask.result(within: ToldRefusals.longest - state.spent, of: record)
            let news: [Event]
            switch result {
            case .success(let events)?: news = state.news(in: expected.others(in: events))
            case .failure?: news = []
            case nil:
                // A device that does not answer costs one wait, and is silent.
                state.isOver = true
                return state.spent == 0 ? [] : [ToldRefusals.end]
            }
            state.spent += MonotonicClock.nanoseconds - start
            return RefusedCalls.lines(of: news)
        }
    }
}
