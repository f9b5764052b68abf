// A clock that goes on only when a test says so.

public import Platform
import Synchronization

/// Timers that are due when ``advance(by:)`` has brought their time.
public final class ManualTimers: Sendable {
    private struct State {
        var now = ContinuousClock.now
        var last = 0
        var pending: [Int: (due: ContinuousClock.Instant, work: Timers.Work)] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    public var timers: Timers {
        Timers(
            now: { [self] in state.withLock { $0.now } },
            start: { [self] time, work in
                // Due at once: on a thread of its own, as the host's.
                guard time > .zero else {
                    WorkQueue().start(work)
                    return {}
                }
                let number = state.withLock { state in
                    state.last += 1
                    state.pending[state.last] = (state.now + time, work)
                    return state.last
                }
                return { [self] in state.withLock { _ = $0.pending.removeValue(forKey: number) } }
            })
    }

    /// The time until the earliest work is due; nil if none waits.
    public var next: Duration? {
        state.withLock { state in state.pending.values.map { $0.due - state.now }.min() }
    }

    /// Moves the clock, and runs the work that is due then, the earliest first, before it returns.
    public func advance(by time: Duration) {
        let due = state.withLock { state in
            state.now += time
            let due = state.pending.filter { $0.value.due <= state.now }
            for number in due.keys { state.pending[number] = nil }
            return due.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }.map(\.value)
        }
        for timer in due { timer.work() }
    }
}
