// The connections that wait for a request, and the one that gives way, without a socket.

import Testing

@testable import ControlServer

@Suite struct PendingRequestsTests {
    @Test func `the oldest of too many gives way`() {
        var pending = PendingRequests<String>(limit: 2, limitWhileShort: 2)
        #expect(pending.add("a", isShort: false).oldest == [])
        #expect(pending.add("b", isShort: false).oldest == [])
        #expect(pending.add("c", isShort: false).oldest == ["a"])
        #expect(pending.removeOldest() == "b")
        #expect(pending.removeOldest() == "c")
        #expect(pending.removeOldest() == nil)
    }

    @Test func `one that has arrived does not give way`() {
        var pending = PendingRequests<String>(limit: 2, limitWhileShort: 2)
        let (number, _) = pending.add("a", isShort: false)
        pending.remove(number)
        #expect(pending.add("b", isShort: false).oldest == [])
        #expect(pending.add("c", isShort: false).oldest == [])
        #expect(pending.removeOldest() == "b")
    }

    @Test func `while descriptors are short fewer are too many, and all beyond them give way`() {
        var pending = PendingRequests<String>(limit: 4, limitWhileShort: 2)
        for name in ["a", "b", "c"] { #expect(pending.add(name, isShort: false).oldest == []) }
        #expect(pending.add("d", isShort: true).oldest == ["a", "b"])
        #expect(pending.add("e", isShort: false).oldest == [])
    }
}
