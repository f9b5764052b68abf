// Work that blocks delays no other work.

import Foundation
import Platform
import Testing

@Suite struct WorkQueueTests {
    @Test func `a hundred blocked pieces of work do not delay the next`() async {
        let blocked = Monitor(0)
        let mayGoOn = Monitor(false)
        let queue = WorkQueue()
        for _ in 0..<100 {
            queue.start {
                blocked.access { $0 += 1 }
                mayGoOn.wait { $0 ? () : nil }
                blocked.access { $0 -= 1 }
            }
        }
        await queue.run { blocked.wait { $0 == 100 ? () : nil } }
        #expect(await queue.run { 7 } == 7)
        mayGoOn.access { $0 = true }
        await queue.run { blocked.wait { $0 == 0 ? () : nil } }
    }

    @Test func `work runs once each, in any number`() async {
        let sum = Monitor(0)
        await withTaskGroup { group in
            for number in 1...1000 {
                group.addTask { await WorkQueue().run { sum.access { $0 += number } } }
            }
        }
        #expect(sum.access { $0 } == 500_500)
    }

    /// The pool of Swift concurrency has a thread for each processor, and all of them wait here.
    @Test func `threads of the pool that wait for async work have what they wait for`() async {
        let sum = await withTaskGroup { group in
            for number in 1...(4 * ProcessInfo.processInfo.activeProcessorCount) {
                group.addTask {
                    let result = BlockingTask.result {
                        try await Task.sleep(for: .milliseconds(10))
                        return number
                    }
                    return (try? result.get()) ?? 0
                }
            }
            return await group.reduce(0, +)
        }
        let last = 4 * ProcessInfo.processInfo.activeProcessorCount
        #expect(sum == last * (last + 1) / 2)
        let failure = BlockingTask.result { throw CancellationError() }
        #expect(throws: CancellationError.self) { try failure.get() }
    }

    @Test func `a thread waits for async work for a limited time, and has the rest of it cancelled`() throws {
        let isCancelled = Monitor(false)
        let late = BlockingTask.result(within: 50_000_000) {
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {
                isCancelled.access { $0 = true }
            }
        }
        #expect(late == nil)
        isCancelled.wait { $0 ? () : nil }
        #expect(try BlockingTask.result(within: 60_000_000_000) { 7 }?.get() == 7)
    }
}
