// The table of threads and their processes: for how long an entry counts, and how large the table gets.

import Testing

@testable import Daemon

@Suite struct ThreadOwnersTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `an entry counts for a second`() {
        var owners = ThreadOwners()
        #expect(owners.process(of: 11, at: 0) == nil)
        owners.remember(10, of: 11, at: 0)
        #expect(owners.process(of: 11, at: Self.second - 1) == 10)
        #expect(owners.process(of: 11, at: Self.second) == nil)
        owners.remember(20, of: 11, at: Self.second)
        #expect(owners.process(of: 11, at: Self.second) == 20)
    }

    @Test func `a caller that cannot be seen has the process 0`() {
        #expect(ThreadOwners().process(of: 0, at: 0) == 0)
    }

    @Test func `the table does not grow without bound, and drops old entries first`() {
        var owners = ThreadOwners()
        for thread in Int32(1)...4095 { owners.remember(1, of: thread, at: 0) }
        owners.remember(2, of: 5000, at: Self.second / 2)
        owners.remember(2, of: 5001, at: Self.second)
        #expect(owners.count == 2)
        #expect(owners.process(of: 5000, at: Self.second) == 2)
        for thread in Int32(10000)..<30000 { owners.remember(3, of: thread, at: Self.second) }
        #expect(owners.count <= 4096)
    }
}
