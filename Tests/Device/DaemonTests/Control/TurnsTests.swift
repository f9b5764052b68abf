// Work in turns: a few at once, the others without a thread, and none whose client has gone.

import Synchronization
import Testing

@testable import Daemon

/// Those that run, and the most that ever did.
private final class Count: Sendable {
    private let state = Mutex((now: 0, most: 0))

    var now: Int { state.withLock { $0.now } }
    var most: Int { state.withLock { $0.most } }

    func begin() { state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
    func end() { state.withLock { $0.now -= 1 } }
}

@Suite("Turns") struct TurnsTests {
    /// Bodies wait here until their task is cancelled.
    private let never = Turns(0)

    @Test(.timeLimit(.minutes(1))) func `so many run at once, and all get their turn`() async {
        let turns = Turns(4)
        let count = Count()
        let tasks = (0..<200).map { _ in
            Task { [never] in
                await turns.run {
                    count.begin()
                    await never.run {}
                    count.end()
                }
            }
        }
        while turns.waiting < 196 { await Task.yield() }
        #expect(count.now == 4)
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.value }
        #expect(count.most == 4)
        #expect(await turns.run { true } == true)
    }

    @Test(.timeLimit(.minutes(1))) func `one that is cancelled before its turn does not run, and takes no turn`() async
    {
        let turns = Turns(1)
        let first = Task { [never] in await turns.run { await never.run {} } }
        while never.waiting == 0 { await Task.yield() }
        let second = Task { await turns.run { true } }
        while turns.waiting == 0 { await Task.yield() }
        let third = Task { await turns.run { true } }
        while turns.waiting == 1 { await Task.yield() }
        second.cancel()
        #expect(await second.value == nil)
        first.cancel()
        #expect(await third.value == true)
        _ = await first.value
    }
}
