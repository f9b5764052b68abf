// Which removal of a name was a file's last, however removals and looks at the file come to lie between each other.

import Testing

@testable import BackingStore

@Suite struct LinkTallyTests {
    /// What is told of removals that saw so many names each, in the order in which they were noted.
    private func told(_ links: UInt64...) -> [Bool] {
        var tally = LinkTally()
        return links.map { tally.removed(7, of: $0) }
    }

    @Test func `the removal of the only name is the last`() {
        #expect(told(1) == [true])
    }

    @Test func `of names that are removed one after the other it is the last one`() {
        #expect(told(3, 2, 1) == [false, false, true])
    }

    @Test func `of names that were looked at before any of them went one removal is the last`() {
        #expect(told(2, 2) == [false, true])
        #expect(told(3, 3, 3) == [false, false, true])
        #expect(told(3, 2, 2) == [false, false, true])
    }

    @Test func `a removal that is noted late is not a second last one`() {
        #expect(told(1, 2) == [true, false])
        #expect(told(2, 1, 3) == [false, true, false])
    }

    @Test func `a file with a name elsewhere is not gone`() {
        #expect(told(2) == [false])
        #expect(told(3, 3) == [false, false])
        #expect(told(3, 2) == [false, false])
    }

    @Test func `files do not count for each other`() {
        var tally = LinkTally()
        let told = [(1, 2), (2, 2), (2, 2), (1, 1)].map { tally.removed($0.0, of: $0.1) }
        #expect(told == [false, false, true, true])
    }
}
