// The work that a device does by itself comes when it is due, and waits for its conditions.

import BackingStore
import SandboxModel
import Testing

@testable import Daemon

@Suite struct DayPlanTests {
    private let now: Int64 = 1_000 * DayPlan.day

    private func plan(
        _ protection: DeviceState = .locked, lock: Int64? = nil, _ change: (inout DaySettings) -> Void = { _ in }
    ) -> DayPlan {
        var settings = DaySettings()
        change(&settings)
        return DayPlan(settings: settings, lock: lock, protection: protection)
    }

    private func scheduled(_ day: inout DaySettings) {
        day.backupDirectory = "/backups"
        day.lastBackup = now
    }

    @Test func `nothing is due on a device that does nothing by itself`() {
        #expect(plan().next(at: now) == nil)
    }

    @Test func `a backup is due a day after the last one`() {
        #expect(plan(.locked, scheduled).next(at: now) == DayPlan.Due(work: .backup, time: now + DayPlan.day))
        // One that is overdue is due now, and not in the past.
        #expect(plan(.locked, scheduled).next(at: now + 5 * DayPlan.day)?.time == now + 5 * DayPlan.day)
    }

    @Test func `a backup waits for lock, power and Wi-Fi`() {
        for state in [DeviceState.unlocked, .locking, .beforeFirstUnlock] {
            #expect(plan(state, scheduled).next(at: now) == nil)
        }
        #expect(plan(.unlocked, scheduled).missing == [.locked])
        // Its user finds it locked, but it has to be unlocked once.
        #expect(plan(.beforeFirstUnlock, scheduled).missing == [.firstUnlock])
        let inTheDark = plan { day in
            scheduled(&day)
            day.power = false
            day.wifi = false
        }
        #expect(inTheDark.next(at: now) == nil)
        #expect(inTheDark.missing == [.power, .wifi])
        #expect(inTheDark.nextBackup == now + DayPlan.day)
    }

    @Test func `work comes in the order of its time`() {
        let all = plan(lock: now + 10) { day in
            scheduled(&day)
            day.nextCleaning = now + 20
        }
        #expect(all.next(at: now) == DayPlan.Due(work: .lock, time: now + 10))
        #expect(all.withoutLock.next(at: now) == DayPlan.Due(work: .cleaning, time: now + 20))
    }

    @Test func `of the backups of an advance the last seven are written`() {
        let days = (1...9).map { DayPlan.Due(work: .backup, time: now + $0 * DayPlan.day) }
        #expect(
            days.map { $0.isWritten(until: now + 9 * DayPlan.day) } == [false, false] + Array(repeating: true, count: 7)
        )
        #expect(days[0].isWritten(until: nil))
    }

    // MARK: Looks at tmp

    /// Hours from now to the next look.
    private func hours(
        toLookAfter due: [Int64?], until target: Int64? = nil, daily: Bool = false
    ) -> Double {
        let due = due.map { $0.map { now + $0 * DayPlan.hour } }
        let next = DayPlan.nextCleaning(
            after: now, until: target.map { now + $0 * DayPlan.hour }, due: due, daily: daily)
        return Double(next - now) / Double(DayPlan.hour)
    }

    @Test func `tmp is looked through when an item is old enough, and once an hour at most`() {
        #expect(hours(toLookAfter: []) == 72)
        #expect(hours(toLookAfter: [50, 30, 60]) == 30)
        // Thousands of items that are used one after the other are looked at together.
        #expect(hours(toLookAfter: [0]) == 1)
        // One that is in use may not be any more a day later.
        #expect(hours(toLookAfter: [50, nil]) == 24)
    }

    @Test func `an advance looks at its end, and not at each hour for what cannot change`() {
        #expect(hours(toLookAfter: [], until: 8_000) == 8_000)
        #expect(hours(toLookAfter: [nil], until: 8_000) == 8_000)
        #expect(hours(toLookAfter: [30], until: 8_000) == 30)
        // Nothing that is due at its end is left over.
        #expect(hours(toLookAfter: [0], until: 0) == 1.0 / 3_600)
        #expect(hours(toLookAfter: [30], until: 30) == 30)
        #expect(hours(toLookAfter: [30], until: 20) == 30)
    }

    @Test func `a device that disobeys has its occasion each day, and some hundred in a century`() {
        #expect(hours(toLookAfter: [], until: 8_000, daily: true) == 24)
        #expect(hours(toLookAfter: [], until: 876_000, daily: true) > 2_000)
    }
}
