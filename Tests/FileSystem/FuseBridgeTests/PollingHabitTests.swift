// Tests of when a worker polls for its next request.

import Testing

@testable import FuseBridge

@Suite("When a worker polls for its next request")
struct PollingHabitTests {
    /// Waits in a row, none of which is ended by a request.
    /// - Returns: how many of them were polled.
    private func polls(_ habit: inout PollingHabit, waits: Int) -> Int {
        var polls = 0
        for _ in 0..<waits where habit.begins() {
            polls += 1
            habit.end(found: false)
        }
        return polls
    }

    @Test func `as long as polls find something`() {
        var habit = PollingHabit()
        for _ in 0..<100 {
            let polls = habit.begins()
            #expect(polls)
            habit.end(found: true)
        }
    }

    @Test func `ever more seldom once several in a row have found nothing`() {
        var habit = PollingHabit()
        let first = polls(&habit, waits: PollingHabit.patience)
        #expect(first == PollingHabit.patience)
        var pause = PollingHabit.shortestPause
        while pause < PollingHabit.longestPause {
            let later = polls(&habit, waits: pause)
            #expect(later == 1)
            pause *= 2
        }
        let last = polls(&habit, waits: 10 * PollingHabit.longestPause)
        #expect(last == 10)
    }

    @Test func `again at each wait from the first that finds something`() {
        var habit = PollingHabit()
        _ = polls(&habit, waits: 10_000)
        var waits = 0
        repeat { waits += 1 } while !habit.begins()
        #expect(waits <= PollingHabit.longestPause)
        habit.end(found: true)
        let next = polls(&habit, waits: PollingHabit.patience)
        #expect(next == PollingHabit.patience)
        // And as often as at first where that was the last.
        let later = polls(&habit, waits: PollingHabit.shortestPause)
        #expect(later == 1)
    }
}
