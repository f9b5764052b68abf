// Looks at the host's space: often while the device is in use, rarely while it is not.

import Platform
import Synchronization
import TestSupport
import Testing

@testable import Purging

@Suite struct LookClockTests {
    private let timers = ManualTimers()
    private static let quiet = LookClock.Signs(uses: 1, used: 100)

    /// The time until the next look, in seconds.
    private func next(_ clock: inout LookClock, _ signs: LookClock.Signs) -> Int64? {
        clock.setNext(hasLooked: true, signs) {}
        return timers.next?.components.seconds
    }

    @Test func `a device that is not used is looked at ever more rarely`() {
        var clock = LookClock(timers.timers)
        let times = (0..<6).map { _ in next(&clock, LookClockTests.quiet) }
        #expect(times == [5, 40, 320, 1280, 1280, 1280])
    }

    @Test func `use and space bring the looks back`() {
        var clock = LookClock(timers.timers)
        for _ in 0..<6 { _ = next(&clock, LookClockTests.quiet) }
        #expect(next(&clock, LookClock.Signs(uses: 2, used: 100)) == 5)
        #expect(next(&clock, LookClock.Signs(uses: 2, used: 100)) == 40)
        #expect(next(&clock, LookClock.Signs(uses: 2, used: 101)) == 5)
    }

    @Test func `the first use after a quiet time has a look soon`() {
        var clock = LookClock(timers.timers)
        for _ in 0..<6 { _ = next(&clock, LookClockTests.quiet) }
        clock.setSoon {}
        #expect(timers.next == .seconds(5))
        // Once it is near it is not put off.
        timers.advance(by: .seconds(3))
        clock.setSoon {}
        #expect(timers.next == .seconds(2))
    }

    @Test func `a use beside a turn, which has read the signs already, brings the looks back too`() {
        var clock = LookClock(timers.timers)
        _ = next(&clock, LookClockTests.quiet)
        clock.setSoon {}
        #expect(next(&clock, LookClockTests.quiet) == 5)
        #expect(next(&clock, LookClockTests.quiet) == 40)
    }

    @Test func `a turn that was no look leaves the next one where it was`() {
        var clock = LookClock(timers.timers)
        for _ in 0..<2 { _ = next(&clock, LookClockTests.quiet) }
        timers.advance(by: .seconds(1))
        clock.setNext(hasLooked: false, LookClockTests.quiet) {}
        #expect(timers.next == .seconds(39))
    }

    @Test func `after the end there is no look`() {
        var clock = LookClock(timers.timers)
        clock.stop()
        #expect(next(&clock, LookClockTests.quiet) == nil)
        clock.setSoon {}
        #expect(timers.next == nil)
    }
}
