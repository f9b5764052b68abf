// Timers and the clock that they go by, as a value: tests have a clock of their own and wait for nothing.

import Dispatch

/// A clock, and work that it starts later.
public struct Timers: Sendable {
    public typealias Work = @Sendable () -> Void
    /// Cancels work that has not started, and lets go of it at once.
    public typealias Cancellation = @Sendable () -> Void

    private let clock: @Sendable () -> ContinuousClock.Instant
    private let schedule: @Sendable (Duration, @escaping Work) -> Cancellation

    /// - Parameter schedule: runs the work once when the time has passed, on a thread where it may block.
    public init(
        now clock: @escaping @Sendable () -> ContinuousClock.Instant,
        start schedule: @escaping @Sendable (Duration, @escaping Work) -> Cancellation
    ) {
        self.clock = clock
        self.schedule = schedule
    }

    public var now: ContinuousClock.Instant { clock() }

    /// Runs the body, which may block, once the time has passed. No thread is held until then.
    @discardableResult
    public func start(after time: Duration, _ body: @escaping Work) -> Cancellation { schedule(time, body) }

    /// The host's clock, which goes on while the host is suspended; libdispatch's timers, which do not.
    public static let host = Timers(
        now: { .now },
        start: { time, body in
            let timer = HostTimer(DispatchSource.makeTimerSource(queue: .global()))
            timer.source.setEventHandler {
                timer.source.cancel()
                WorkQueue().start(body)
            }
            timer.source.schedule(deadline: .now() + time / .seconds(1))
            timer.source.activate()
            return { timer.source.cancel() }
        })
}

/// A timer of libdispatch: its handler keeps it until it is cancelled. Its calls can be made from any thread.
private final class HostTimer: @unchecked Sendable {
    let source: any DispatchSourceTimer

    init(_ source: any DispatchSourceTimer) {
        self.source = source
    }
}
