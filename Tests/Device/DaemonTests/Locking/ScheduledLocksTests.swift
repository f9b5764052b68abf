// Requests that wait for the outcome of a lock.

import Testing

@testable import Daemon

@Suite struct ScheduledLocksTests {
    private let locks = ScheduledLocks()

    private func announce() -> Int { locks.change { $0.announce(for: .now + .seconds(60)) } }

    private func waitUntil(waiting count: Int) async {
        while locks.waiting != count { await Task.yield() }
    }

    @Test func `an outcome wakes the requests that wait for that lock, and no others`() async {
        let first = announce()
        async let cancelled = locks.outcome(of: first)
        await waitUntil(waiting: 1)
        locks.change { $0.cancel() }
        #expect(await cancelled == .cancelled)

        let second = announce()
        async let locked = locks.outcome(of: second)
        await waitUntil(waiting: 1)
        locks.change { $0.begin() }
        #expect(locks.waiting == 1)
        locks.change { $0.complete(second) }
        #expect(await locked == .locked)
    }

    @Test func `a known outcome is returned at once`() async {
        let lock = announce()
        locks.change { $0.complete(lock) }
        #expect(await locks.outcome(of: lock) == .locked)
        #expect(locks.waiting == 0)
    }

    @Test func `a cancelled task waits no longer, whether it waited already or not`() async {
        let lock = announce()
        let task = Task { await locks.outcome(of: lock) }
        await waitUntil(waiting: 1)
        task.cancel()
        #expect(await task.value == nil)
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return await locks.outcome(of: lock)
        }
        late.cancel()
        #expect(await late.value == nil)
        #expect(locks.waiting == 0)
    }
}
