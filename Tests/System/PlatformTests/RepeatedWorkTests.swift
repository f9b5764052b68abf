// Work that is done again whenever it is asked for, one run at a time.

import Platform
import Testing

@Suite struct RepeatedWorkTests {
    @Test func `requests during a run are answered by one more`() {
        let runs = Monitor(0)
        let mayGoOn = Monitor(false)
        let work = RepeatedWork {
            runs.access { $0 += 1 }
            mayGoOn.wait { $0 ? () : nil }
        }
        work.request()
        runs.wait { $0 == 1 ? () : nil }
        for _ in 0..<10 { work.request() }
        mayGoOn.access { $0 = true }
        work.end()
        #expect(runs.access { $0 } == 2)
    }

    @Test func `the end waits for what was asked for, and there is nothing after it`() {
        let runs = Monitor(0)
        let work = RepeatedWork { runs.access { $0 += 1 } }
        work.request()
        work.end()
        #expect(runs.access { $0 } == 1)
        work.request()
        work.end()
        #expect(runs.access { $0 } == 1)
    }

    @Test func `two runs are never at a time`() {
        let state = Monitor((inside: 0, most: 0))
        let work = RepeatedWork {
            state.access {
                $0.inside += 1
                $0.most = max($0.most, $0.inside)
            }
            state.access { $0.inside -= 1 }
        }
        let done = Monitor(0)
        for _ in 0..<4 {
            WorkQueue().start {
                for _ in 0..<1000 { work.request() }
                done.access { $0 += 1 }
            }
        }
        done.wait { $0 == 4 ? () : nil }
        work.end()
        #expect(state.access { $0.most } == 1)
    }
}
