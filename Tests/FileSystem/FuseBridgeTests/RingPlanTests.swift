// Tests of the plan for a connection over io_uring.

import Testing

@testable import FuseBridge

struct RingPlanTests {
    @Test func everyProcessorThatRunsHasFourWorkersOfItsOwn() {
        let plan = RingPlan(possible: 2, online: [0, 1], allowed: { _ in true })
        for processor in 0..<2 {
            let own = plan.workers.filter { $0.processor == processor }
            #expect(own.count == 4)
            #expect(own.allSatisfy { $0.queues == [UInt16(processor)] })
        }
        #expect(plan.workers.count == 8)
        #expect(plan.payload == 1 << 20)
    }

    @Test(arguments: [1, 2, 3, 4, 16, 63, 64, 128, 1024]) func everyQueueHasAnEntry(possible: Int) {
        for running in [1, possible / 2 + 1, possible] {
            let plan = RingPlan(possible: possible, online: Set(0..<running), allowed: { $0 % 2 == 0 })
            let queues = Set(plan.workers.flatMap(\.queues))
            #expect(queues == Set((0..<possible).map { UInt16($0) }))
            #expect(plan.queueCount == possible)
            #expect(plan.workers.allSatisfy { (1...RingPlan.mostQueues).contains($0.queues.count) })
        }
    }

    @Test func processorsThatAreOffShareAThread() {
        let plan = RingPlan(possible: 20, online: [0], allowed: { _ in true })
        let shared = plan.workers.filter { $0.queues.count > 1 }
        #expect(shared.map(\.queues.count) == [16, 3])
        #expect(shared.allSatisfy { $0.processor == nil })
    }

    @Test func aProcessorThatTheProcessMayNotUseHasWorkersThatAreNotBound() {
        let plan = RingPlan(possible: 2, online: [0, 1], allowed: { $0 == 0 })
        let unbound = plan.workers.filter { $0.queues == [1] }
        #expect(unbound.count == 4)
        #expect(unbound.allSatisfy { $0.processor == nil })
    }

    @Test func manyProcessorsHaveSmallerPayloads() {
        let plan = RingPlan(possible: 32, online: Set(0..<32), allowed: { _ in true })
        #expect(plan.workers.count == 128)
        #expect(plan.payload == 128 << 10)
        let largest = RingPlan(possible: 256, online: Set(0..<256), allowed: { _ in true })
        #expect(largest.workers.count == 1024)
        #expect(largest.payload == 128 << 10)
    }
}
