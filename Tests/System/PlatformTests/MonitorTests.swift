// Tests of Monitor: waits that end at a deadline.

import Platform
import Testing

@Suite struct MonitorTests {
    @Test func `a wait whose time is over looks once more, and ends`() {
        let monitor = Monitor(0)
        let now = MonotonicClock.nanoseconds
        #expect(monitor.wait(until: now) { $0 == 1 ? true : nil } == nil)
        #expect(MonotonicClock.nanoseconds - now < 60_000_000_000)
        monitor.access { $0 = 1 }
        #expect(monitor.wait(until: now) { $0 == 1 ? true : nil } == true)
    }

    @Test func `a wait ends with the change that it waits for`() throws {
        let monitor = Monitor(0)
        let thread = try HostThread(name: "change") { monitor.access { $0 = 1 } }
        let deadline = MonotonicClock.nanoseconds + 60_000_000_000
        #expect(monitor.wait(until: deadline) { $0 == 1 ? true : nil } == true)
        #expect(MonotonicClock.nanoseconds < deadline)
        thread.join()
    }
}
