// Tests of the lists of processors in sysfs.

import Testing

@testable import Platform

struct ProcessorsTests {
    @Test(arguments: [
        ("0\n", [0]), ("0-3\n", [0, 1, 2, 3]), ("0,2-3,7\n", [0, 2, 3, 7]), ("1-1", [1]),
    ])
    func listsAreRead(list: String, numbers: [Int]) {
        #expect(Processors.numbers(Array(list.utf8)) == numbers)
    }

    @Test(arguments: ["", "\n", "a", "3-1", "-1", "1-2-3", "0-99999999", "1,,b"])
    func listsThatAreNoneAreRefused(list: String) {
        #expect(Processors.numbers(Array(list.utf8)) == nil)
    }

    @Test func thisMachineHasTheProcessorItRunsOn() throws {
        let possible = try #require(Processors.possibleCount())
        let online = Processors.online()
        #expect(!online.isEmpty)
        #expect(online.allSatisfy { $0 < possible })
        #expect(online.contains { Processors.isAllowed($0) })
    }
}
