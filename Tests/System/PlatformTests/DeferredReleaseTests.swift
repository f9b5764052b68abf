// Tests of the release on another thread.

import Glibc
import Platform
import Synchronization
import Testing

@Suite struct DeferredReleaseTests {
    private final class Counted: Sendable {
        let ends: Counter

        init(_ ends: Counter) { self.ends = ends }
        deinit { ends.count.add(1, ordering: .relaxed) }
    }

    private final class Noted: Sendable {
        let thread: EndingThread

        init(_ thread: EndingThread) { self.thread = thread }
        deinit { thread.value.withLock { $0 = pthread_self() } }
    }

    private final class EndingThread: Sendable {
        let value = Mutex<pthread_t?>(nil)
    }

    private final class Counter: Sendable {
        let count = Atomic<Int>(0)
    }

    @Test(arguments: [1, 100_000]) func everyObjectIsReleasedWhenItHasFinished(bound: Int) {
        let released = DeferredRelease(name: "release", bound: bound)
        let ends = Counter()
        for _ in 0..<10_000 { released.add(Counted(ends)) }
        released.finish()
        #expect(ends.count.load(ordering: .relaxed) == 10_000)
        released.add(Counted(ends))
        #expect(ends.count.load(ordering: .relaxed) == 10_001, "its thread is gone")
    }

    @Test func anObjectIsReleasedByAnotherThread() {
        let released = DeferredRelease(name: "release", bound: 1)
        let thread = EndingThread()
        released.add(Noted(thread))
        released.finish()
        let end = thread.value.withLock { $0 }
        #expect(end != nil && end != pthread_self())
    }

    @Test func anOwnerThatGoesReleasesEveryObject() {
        let ends = Counter()
        do {
            let released = DeferredRelease(name: "release", bound: 100)
            for _ in 0..<10 { released.add(Counted(ends)) }
        }
        #expect(ends.count.load(ordering: .relaxed) == 10)
    }
}
