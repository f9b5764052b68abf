// Work that blocks delays no other work.

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
}
