// Tests of the order in which a worker serves, and of the numbers of retrievals.

import CRing
import Testing

@testable import FuseBridge

struct DeliveriesTests {
    @Test func whatCameFirstIsServedFirst() {
        var deliveries = Deliveries()
        #expect(deliveries.next() == nil)
        for entry in [3, 1, 2] { deliveries.append(entry) }
        #expect(deliveries.next() == 3)
        // Later ones never overtake.
        deliveries.append(3)
        #expect([deliveries.next(), deliveries.next(), deliveries.next(), deliveries.next()] == [1, 2, 3, nil])
    }

    @Test func everyEntryMayHaveARequest() {
        var deliveries = Deliveries()
        let entries = Array(0..<Int(RING_MOST_ENTRIES))
        for start in entries {
            // So that the queue begins at each of its places.
            deliveries.append(start)
            #expect(deliveries.next() == start)
            for entry in entries { deliveries.append(entry) }
            #expect(entries.map { _ in deliveries.next() } == entries)
        }
    }

    @Test func numbersOfRetrievalsAreNobodyElses() {
        let numbers = RetrievalNumbers()
        let drawn = (0..<1000).map { _ in numbers.next() }
        #expect(Set(drawn).count == drawn.count)
        #expect(drawn.allSatisfy { $0 >= 1 << 63 && $0 % 2 == 0 })
    }
}
