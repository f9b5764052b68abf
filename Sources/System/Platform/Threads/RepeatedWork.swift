// Work that is done again whenever somebody asks for it.

/// Runs a body on a thread of ``WorkQueue`` after each request, and never twice at a time: requests that come while it
/// runs are answered by one more run. No thread is held between the runs.
public final class RepeatedWork: Sendable {
    private struct State {
        var isRunning = false
        var isWanted = false
        var isOver = false
    }

    private let state = Monitor(State())
    private let body: @Sendable () -> Void

    /// - Parameter body: may block. It must not call ``end()``.
    public init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    /// Has the body run once more. Returns at once.
    public func request() {
        let isFirst = state.access { state in
            guard !state.isOver else { return false }
            defer { state.isRunning = true }
            state.isWanted = true
            return !state.isRunning
        }
        if isFirst { WorkQueue().start { self.run() } }
    }

    private func run() {
        while goesOn() { body() }
    }

    /// - Returns: false if nothing is asked for; the thread is released then.
    private func goesOn() -> Bool {
        state.access { state in
            defer { state.isWanted = false }
            state.isRunning = state.isWanted
            return state.isWanted
        }
    }

    /// Waits for the runs that were asked for. No further one can be.
    public func end() {
        state.access { $0.isOver = true }
        state.wait { $0.isRunning ? nil : () }
    }
}
