// Tests of the release on another thread.

import Platform
import Synchronization
import Testing

@testable import Passthrough

@Suite struct DeferredReleaseTests {
    private final class Counted: Sendable {
        let ends: Counter

        init(_ ends: Counter) { self.ends = ends }
        deinit { ends.count.add(1, ordering: .relaxed) }
    }

    private final class Counter: Sendable {
        let count = Atomic<Int>(0)
    }

    @Test(arguments: [1, 100_000]) func everyObjectIsReleasedWhenItHasStopped(bound: Int) throws {
        let released = try DeferredRelease(bound: bound)
        let ends = Counter()
        for _ in 0..<10_000 { released.add(Counted(ends)) }
        released.stop()
        #expect(ends.count.load(ordering: .relaxed) == 10_000)
        released.add(Counted(ends))
        #expect(ends.count.load(ordering: .relaxed) == 10_001, "its thread is gone")
    }
}
