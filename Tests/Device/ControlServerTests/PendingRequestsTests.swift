// The connections that wait for a request, and the one that gives way, without a socket.

import Testing

@testable import ControlServer

@Suite struct PendingRequestsTests {
    @Test func `the oldest of too many gives way`() {
        var pending = PendingRequests<String>(limit: 2)
        #expect(pending.add("a").oldest == nil)
        #expect(pending.add("b").oldest == nil)
        #expect(pending.add("c").oldest == "a")
        #expect(pending.removeOldest() == "b")
        #expect(pending.removeOldest() == "c")
        #expect(pending.removeOldest() == nil)
    }

    @Test func `one that has arrived does not give way`() {
        var pending = PendingRequests<String>(limit: 2)
        let (number, _) = pending.add("a")
        pending.remove(number)
        #expect(pending.add("b").oldest == nil)
        #expect(pending.add("c").oldest == nil)
        #expect(pending.removeOldest() == "b")
    }
}
