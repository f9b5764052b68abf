// Announced locks and what becomes of them: no thread, no clock, no device.

import Testing

@testable import Daemon

@Suite struct LockScheduleTests {
    private let begun = ContinuousClock.now

    @Test func `an announced lock is pending until it begins, and under way until it is complete`() {
        var schedule = LockSchedule()
        #expect(!schedule.isUnderWay)
        let lock = schedule.announce(for: begun + .seconds(10))
        #expect(schedule.isPending(lock) && schedule.isUnderWay && schedule.outcome(of: lock) == nil)
        schedule.begin()
        #expect(!schedule.isPending(lock) && schedule.isUnderWay)
        schedule.complete(lock)
        #expect(!schedule.isUnderWay && schedule.outcome(of: lock) == .locked)
    }

    @Test func `the time that remains counts down to zero, and is nothing without a pending lock`() {
        var schedule = LockSchedule()
        #expect(schedule.remaining(at: begun) == nil)
        _ = schedule.announce(for: begun + .seconds(10))
        #expect(schedule.remaining(at: begun + .seconds(3)) == .seconds(7))
        #expect(schedule.remaining(at: begun + .seconds(30)) == .zero)
        schedule.cancel()
        #expect(schedule.remaining(at: begun) == nil)
    }

    @Test func `an unlock cancels a pending lock, and none that has begun`() {
        var schedule = LockSchedule()
        let first = schedule.announce(for: begun)
        schedule.cancel()
        #expect(schedule.outcome(of: first) == .cancelled && !schedule.isPending(first))
        let second = schedule.announce(for: begun)
        schedule.begin()
        schedule.cancel()
        #expect(schedule.outcome(of: second) == nil)
        schedule.complete(second)
        #expect(schedule.outcome(of: second) == .locked)
    }

    @Test func `the deadline of a cancelled lock is not that of the next one`() {
        var schedule = LockSchedule()
        let first = schedule.announce(for: begun)
        schedule.cancel()
        let second = schedule.announce(for: begun + .seconds(5))
        #expect(!schedule.isPending(first) && schedule.isPending(second))
    }

    @Test func `a restart is the outcome of a pending lock`() {
        var schedule = LockSchedule()
        let lock = schedule.announce(for: begun)
        schedule.restart()
        #expect(schedule.outcome(of: lock) == .locked && schedule.deadline == nil)
    }
}
