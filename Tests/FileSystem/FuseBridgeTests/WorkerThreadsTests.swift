// Threads of workers: as many as there is work for, and none for long without.

import Platform
import Synchronization
import TestSupport
import Testing

@testable import FuseBridge

@Suite struct WorkerThreadsTests {
    /// Workers that sleep as soon as they are called, until they end.
    private final class Pool: Sendable {
        let threads: WorkerThreads
        /// Ends of sleep, by worker.
        let awakenings = Monitor<[Int: [WorkerThreads.Awakening]]>([:])
        let running = Monitor(0)

        init(_ count: Int, quietMilliseconds: Int) {
            threads = WorkerThreads(count, quietMilliseconds: quietMilliseconds)
        }

        func serve(_ worker: Int) {
            while true {
                let awakening = threads.sleep(worker)
                awakenings.access { $0[worker, default: []].append(awakening) }
                if awakening != .called { break }
            }
        }

        /// A thread that was made counts before it begins, which may take a busy machine a while.
        private final class Count: Sendable {
            private let running: Monitor<Int>

            init(_ running: Monitor<Int>) {
                self.running = running
                running.access { $0 += 1 }
            }

            deinit { running.access { $0 -= 1 } }
        }

        /// The body of a thread. Dropped by a call that makes none.
        func body() -> @Sendable (Int) -> Void {
            let count = Count(running)
            return { worker in withExtendedLifetime(count) { self.serve(worker) } }
        }

        func call(leaving reserve: Int = 0) -> Bool { threads.call(leaving: reserve, body()) }

        /// Waits until so many awakenings of a kind were seen.
        func wait(for count: Int, _ kind: WorkerThreads.Awakening) {
            awakenings.wait { $0.values.joined().count { $0 == kind } >= count ? () : nil }
        }

        func end() {
            threads.end()
            threads.join()
        }
    }

    @Test func `a worker that sleeps is woken before another gets a thread`() throws {
        let pool = Pool(4, quietMilliseconds: 3_600_000)
        try pool.threads.callFirst(pool.body())
        for turn in 1...20 {
            eventually("a call of the one that sleeps") { pool.call(leaving: 3) }
            pool.wait(for: turn, .called)
        }
        #expect(pool.running.access { $0 } == 1)
        pool.end()
        #expect(pool.running.access { $0 } == 0)
    }

    @Test func `those in reserve are left, and no more are called than there are`() throws {
        let threads = WorkerThreads(3)
        let mayGoOn = Monitor(false)
        let work: @Sendable (Int) -> Void = { _ in mayGoOn.wait { $0 ? () : nil } }
        try threads.callFirst(work)
        #expect(!threads.call(leaving: 2, work))
        #expect(threads.call(leaving: 1, work))
        #expect(!threads.call(leaving: 1, work))
        #expect(threads.call(leaving: 0, work))
        #expect(!threads.call(leaving: 0, work))
        mayGoOn.access { $0 = true }
        threads.end()
        threads.join()
        #expect(!threads.call(leaving: 0, work), "after the end")
    }

    @Test func `a thread without work ends, and its worker gets another`() throws {
        let pool = Pool(2, quietMilliseconds: 1)
        try pool.threads.callFirst(pool.body())
        pool.wait(for: 1, .idle)
        for turn in 2...50 {
            eventually("a call") { pool.call() }
            pool.wait(for: turn, .idle)
        }
        pool.end()
        #expect(pool.running.access { $0 } == 0)
    }

    /// Those who call, those whose sleep ends just then, and the waking of all, by chance at the same time.
    @Test func `no call is lost, whenever it comes`() throws {
        let pool = Pool(8, quietMilliseconds: 1)
        let done = Monitor(0)
        for _ in 0..<4 {
            WorkQueue().start {
                for turn in 0..<2000 {
                    if turn % 16 == 0 { pool.threads.wakeAll() } else { _ = pool.call() }
                }
                done.access { $0 += 1 }
            }
        }
        done.wait { $0 == 4 ? () : nil }
        eventually("all threads without work have ended") { pool.running.access { $0 } == 0 }
        // Every worker is free again.
        let mayGoOn = Monitor(false)
        for _ in 0..<8 { #expect(pool.threads.call(leaving: 0) { _ in mayGoOn.wait { $0 ? () : nil } }) }
        #expect(!pool.call())
        mayGoOn.access { $0 = true }
        pool.end()
    }

    @Test func `all that sleep end with the session`() throws {
        let pool = Pool(4, quietMilliseconds: 3_600_000)
        try pool.threads.callFirst(pool.body())
        for _ in 0..<3 { #expect(pool.call()) }
        pool.end()
        #expect(pool.running.access { $0 } == 0)
        #expect(pool.threads.isOver)
    }
}
