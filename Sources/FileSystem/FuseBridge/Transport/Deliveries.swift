// The requests that the kernel has delivered to a worker with several entries, in their order.

import CRing

/// A queue of entries, first come, first served: a request that waits behind later ones might wait for ever.
struct Deliveries {
    /// A ring of as many places as there are entries, each of which holds one request at a time.
    private var places = [Int](repeating: 0, count: Int(RING_MOST_ENTRIES))
    private var first = 0
    private var count = 0

    mutating func append(_ entry: Int) {
        precondition(count < places.count, "an entry has two requests")
        places[(first + count) % places.count] = entry
        count += 1
    }

    /// - Returns: the entry whose request came first; nil if none waits.
    mutating func next() -> Int? {
        guard count > 0 else { return nil }
        defer {
            first = (first + 1) % places.count
            count -= 1
        }
        return places[first]
    }
}
