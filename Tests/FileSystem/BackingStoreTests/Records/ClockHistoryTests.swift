// Times of the host by a device's clock, which was moved since.

import Foundation
import Platform
import Testing

@testable import BackingStore

@Suite struct ClockHistoryTests {
    private let second: Int64 = 1_000_000_000

    private func time(_ seconds: Int64) -> HostTime { HostTime(nanoseconds: seconds * second) }

    /// A clock that was advanced by an hour at 1000 seconds, in two steps, and by a minute at 2000.
    private var moved: ClockHistory {
        var history = ClockHistory()
        history.begin(at: time(1000))
        history.advance(by: 3000 * second)
        history.advance(by: 600 * second)
        history.begin(at: time(2000))
        history.advance(by: 60 * second)
        return history
    }

    @Test func `a clock that was never moved is the host's`() {
        #expect(ClockHistory().ahead == 0)
        #expect(ClockHistory().ahead(at: time(1000)) == 0)
    }

    @Test func `each time is by the clock of that time`() {
        #expect(moved.ahead == 3660 * second)
        #expect(
            [0, 999, 1000, 1999, 2000, 9000].map { moved.ahead(at: time($0)) / second } == [
                0, 0, 3600, 3600, 3660, 3660,
            ])
    }

    @Test func `a file of just after a move is not from before it`() {
        // The kernel gives files the time of its last tick.
        #expect(moved.ahead(at: HostTime(nanoseconds: 1000 * second - HostTime.tick)) == 3600 * second)
    }

    @Test func `after many moves the oldest are one, by which nothing is older than it is`() {
        var history = ClockHistory()
        for number in 1...200 {
            history.begin(at: time(Int64(number) * 100))
            history.advance(by: second)
        }
        #expect(history.ahead == 200 * second && history.isPossible)
        #expect(history.ahead(at: time(19_999)) == 199 * second)
        #expect(history.ahead(at: time(0)) == 137 * second)
    }

    @Test func `it is stored as a list of moves`() throws {
        let text = try JSONEncoder().encode(moved)
        #expect(try JSONDecoder().decode(ClockHistory.self, from: text) == moved)
        let list = try #require(try JSONSerialization.jsonObject(with: text) as? [[String: Int64]])
        #expect(list.map { $0["ahead"] } == [3600 * second, 3660 * second])
    }
}
