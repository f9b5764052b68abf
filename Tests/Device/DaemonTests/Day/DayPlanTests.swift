// The work that a device does by itself comes when it is due, and waits for its conditions.

import BackingStore
import Testing

@testable import Daemon

@Suite struct DayPlanTests {
    private let now: Int64 = 1_000 * DayPlan.day

    private func plan(
        isLocked: Bool = true, lock: Int64? = nil, _ change: (inout DaySettings) -> Void = { _ in }
    ) -> DayPlan {
        var settings = DaySettings()
        change(&settings)
        return DayPlan(settings: settings, isLocked: isLocked, lock: lock)
    }

    private func scheduled(_ day: inout DaySettings) {
        day.backupDirectory = "/backups"
        day.lastBackup = now
    }

    @Test func `nothing is due on a device that does nothing by itself`() {
        #expect(plan().next(at: now) == nil)
    }

    @Test func `a backup is due a day after the last one`() {
        #expect(plan(scheduled).next(at: now) == DayPlan.Due(work: .backup, time: now + DayPlan.day))
        // One that is overdue is due now, and not in the past.
        #expect(plan(scheduled).next(at: now + 5 * DayPlan.day)?.time == now + 5 * DayPlan.day)
    }

    @Test func `a backup waits for lock, power and Wi-Fi`() {
        #expect(plan(isLocked: false, scheduled).next(at: now) == nil)
        #expect(plan(isLocked: false, scheduled).missing == [.locked])
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
}
