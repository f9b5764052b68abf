// Waiting for the end of a mount.

import Synchronization
import Testing

@testable import Daemon

@Suite struct MountEndWaitersTests {
    private final class Calls: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    private let waiters = MountEndWaiters()
    private let calls = Calls()

    private func wait(_ name: String, for mountPoint: String, isMounted: Bool = true) {
        waiters.wait(for: mountPoint, while: { isMounted }, { [calls] in calls.add(name) })
    }

    @Test func `the end of a mount calls back all that wait for it, once`() {
        wait("a", for: "/one")
        wait("b", for: "/one")
        wait("c", for: "/two")
        #expect(calls.all.isEmpty)
        waiters.end("/one")
        #expect(calls.all == ["a", "b"])
        waiters.end("/one")
        waiters.end("/two")
        #expect(calls.all == ["a", "b", "c"])
    }

    @Test func `the call comes at once if nothing is mounted`() {
        wait("a", for: "/one", isMounted: false)
        #expect(calls.all == ["a"])
        waiters.end("/one")
        #expect(calls.all == ["a"])
    }

    @Test func `a callback may wait again`() {
        let again: @Sendable () -> Void = { [calls] in calls.add("again") }
        waiters.wait(for: "/one", while: { true }, { [waiters] in waiters.wait(for: "/one", while: { true }, again) })
        waiters.end("/one")
        #expect(calls.all.isEmpty)
        waiters.end("/one")
        #expect(calls.all == ["again"])
    }
}
