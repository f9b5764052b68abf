// The removal of a file's last name, in any order of removals and looks at the file.

import Testing

@testable import BackingStore

@Suite struct LinkTallyTests {
    /// The results of removals that each saw this link count, in the order in which they were recorded.
    private func results(_ links: UInt64...) -> [Bool] {
        var tally = LinkTally()
        return links.map { tally.removed(7, of: $0) }
    }

    @Test func `the removal of the only name is the last`() {
        #expect(results(1) == [true])
    }

    @Test func `of names removed one after the other the last is the last`() {
        #expect(results(3, 2, 1) == [false, false, true])
    }

    @Test func `of names whose counts were read before any removal exactly one is the last`() {
        #expect(results(2, 2) == [false, true])
        #expect(results(3, 3, 3) == [false, false, true])
        #expect(results(3, 2, 2) == [false, false, true])
    }

    @Test func `a removal that is recorded late is not a second last one`() {
        #expect(results(1, 2) == [true, false])
        #expect(results(2, 1, 3) == [false, true, false])
    }

    @Test func `a file with a name elsewhere is not gone`() {
        #expect(results(2) == [false])
        #expect(results(3, 3) == [false, false])
        #expect(results(3, 2) == [false, false])
    }

    @Test func `files do not count for each other`() {
        var tally = LinkTally()
        let told = [(1, 2), (2, 2), (2, 2), (1, 1)].map { tally.removed($0.0, of: $0.1) }
        #expect(told == [false, false, true, true])
    }
}
