// A clock that goes on only when a test says so.

public import Platform
import Synchronization

/// Timers that are due when ``advance(by:)`` has brought their time.
public final class ManualTimers: Sendable {
    private struct State {
        var now = ContinuousClock.now
        var pending: [(due: ContinuousClock.Instant, work: Timers.Work)] = []
    }

    private let state = Mutex(State())

    public init() {}

    public var timers: Timers {
        Timers(
            now: { [self] in state.withLock { $0.now } },
            start: { [self] time, work in
                // Due at once: on a thread of its own, as the host's.
                guard time > .zero else { return WorkQueue().start(work) }
                state.withLock { $0.pending.append(($0.now + time, work)) }
            })
    }

    /// Moves the clock, and runs the work that is due then, the earliest first, before it returns.
    public func advance(by time: Duration) {
        let due = state.withLock { state in
            state.now += time
            let due = state.pending.filter { $0.due <= state.now }.sorted { $0.due < $1.due }
            state.pending.removeAll { $0.due <= state.now }
            return due
        }
        for timer in due { timer.work() }
    }
}
