// How many refusals are recorded of whom, and that none of the others goes uncounted. Time is given, not waited for.

import Glibc
import Platform
import SandboxModel
import Synchronization
import Testing

@testable import Daemon

@Suite struct RefusalLimitTests {
    private typealias Omission = RefusalLimit.Omission
    private static let second: UInt64 = 1_000_000_000

    /// Each process has the threads from its own number to that plus 9.
    private func makeLimit(burst: UInt64 = 5, perSecond: UInt64 = 2, pairs: Int = 100) -> RefusalLimit {
        RefusalLimit(
            rate: RefusalLimit.Rate(burst: burst, perSecond: perSecond, pairs: pairs), own: 9990,
            identify: { $0 - $0 % 10 })
    }

    /// - Returns: how many of so many refusals at one instant are recorded.
    private func recorded(
        _ count: Int, of limit: RefusalLimit, _ rule: Rule = .inbox, thread: pid_t = 10, at now: UInt64
    ) -> Int {
        (0..<count).count { _ in
            if case .record = limit.admit(rule, thread: thread, now: now) { true } else { false }
        }
    }

    @Test func `as many as the burst are recorded at once, and then so many a second`() {
        let limit = makeLimit()
        let now = 100 * Self.second
        #expect(recorded(20, of: limit, at: now) == 5)
        #expect(recorded(20, of: limit, at: now + Self.second) == 2)
        #expect(recorded(20, of: limit, at: now + Self.second * 3 / 2) == 1)
        #expect(recorded(20, of: limit, at: now + 60 * Self.second) == 5, "full again, and not fuller")
    }

    @Test func `the next that is recorded says how many were not`() {
        let limit = makeLimit()
        for _ in 0..<5 { #expect(limit.admit(.inbox, thread: 10, now: 0) == .record(omitted: 0)) }
        #expect(limit.admit(.inbox, thread: 10, now: 0) == .leaveOut(isFirst: true))
        #expect(limit.admit(.inbox, thread: 11, now: 0) == .leaveOut(isFirst: false))
        #expect(limit.admit(.inbox, thread: 10, now: Self.second) == .record(omitted: 2))
        #expect(limit.admit(.inbox, thread: 10, now: Self.second) == .record(omitted: 0))
        #expect(limit.takeOmissions(quietSince: nil).omissions == [])
    }

    @Test func `each process and each rule has its own, whichever of its threads calls`() {
        let limit = makeLimit()
        #expect(recorded(20, of: limit, thread: 10, at: 0) == 5)
        #expect(recorded(20, of: limit, thread: 15, at: 0) == 0)
        #expect(recorded(20, of: limit, thread: 20, at: 0) == 5)
        #expect(recorded(20, of: limit, .topLevel, thread: 10, at: 0) == 5)
        #expect(recorded(20, of: limit, thread: 0, at: 0) == 5, "those who cannot be seen")
        #expect(recorded(20, of: limit, thread: 0, at: 0) == 0)
    }

    @Test func `this process itself is not recorded, nor counted`() {
        let limit = makeLimit()
        #expect(limit.admit(.inbox, thread: 9991, now: 0) == .own)
        #expect(limit.takeOmissions(quietSince: nil).omissions == [])
    }

    @Test func `a flood that is over is told once, with the name of its process`() {
        let limit = makeLimit()
        _ = recorded(8, of: limit, at: 0)
        limit.recordName("flood", of: 10, rule: .inbox)
        // Not while more may come, of which the next that is recorded would tell.
        let early = limit.takeOmissions(quietSince: 0 - 0)
        #expect(early.omissions == [Omission(process: 10, name: "flood", rule: .inbox, count: 3)] && !early.isMore)
        _ = recorded(2, of: limit, at: Self.second / 4)
        let later = limit.takeOmissions(quietSince: Self.second / 8)
        #expect(later.omissions == [] && later.isMore)
        let last = limit.takeOmissions(quietSince: Self.second)
        #expect(last.omissions == [Omission(process: 10, name: "flood", rule: .inbox, count: 2)] && !last.isMore)
        #expect(limit.takeOmissions(quietSince: nil).omissions == [])
        #expect(
            limit.admit(.inbox, thread: 10, now: Self.second / 4) == .leaveOut(isFirst: true), "asks for a look again")
    }

    @Test func `an evicted bucket's count is still reported`() {
        let limit = makeLimit(pairs: 4)
        for process in 1...10 { #expect(recorded(7, of: limit, thread: pid_t(process * 10), at: UInt64(process)) == 5) }
        let omissions = limit.takeOmissions(quietSince: nil).omissions
        #expect(omissions.compactMap(\.process).sorted() == (1...10).map { pid_t($0 * 10) })
        #expect(omissions.allSatisfy { $0.count == 2 })
    }

    @Test func `an idle process's bucket is evicted before a flooding one's`() {
        let limit = makeLimit(pairs: 4)
        #expect(recorded(20, of: limit, thread: 10, at: 0) == 5)
        for process in 2...50 {
            #expect(recorded(1, of: limit, thread: pid_t(process * 10), at: UInt64(process)) == 1)
        }
        #expect(recorded(20, of: limit, thread: 10, at: 60) == 0, "its bucket is empty still")
    }

    @Test func `the process of a thread is looked up once a second`() {
        let asked = Mutex(0)
        let limit = RefusalLimit(own: 9990) { thread in
            asked.withLock { $0 += 1 }
            return thread
        }
        for moment in 0..<100 { _ = limit.admit(.inbox, thread: 10, now: UInt64(moment) * Self.second / 10) }
        #expect(asked.withLock { $0 } == 10)
        // So many threads as are never at it at once are asked for, and not remembered for ever.
        for thread in 100..<20_000 { _ = limit.admit(.inbox, thread: pid_t(thread), now: 0) }
    }

    @Test func `many threads at once leave none uncounted`() throws {
        let limit = makeLimit(burst: 100, perSecond: 1000)
        let recorded = Atomic(0)
        let threads = try (0..<4).map { index in
            try HostThread(name: "caller-\(index)") {
                for number in 0..<20_000 {
                    let answer = limit.admit(
                        index % 2 == 0 ? .inbox : .topLevel, thread: pid_t(10 + index), now: UInt64(number) * 100_000)
                    if case .record(let omitted) = answer { recorded.add(1 + omitted, ordering: .relaxed) }
                }
            }
        }
        for thread in threads { thread.join() }
        let left = limit.takeOmissions(quietSince: nil).omissions.reduce(0) { $0 + $1.count }
        #expect(recorded.load(ordering: .relaxed) + left == 80_000)
    }
}
