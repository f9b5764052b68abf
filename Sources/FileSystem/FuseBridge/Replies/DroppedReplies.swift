// Reports requests whose reply was dropped, so that such a bug of the filesystem is no silent EIO.

import Platform
import Synchronization

/// Limits the reports of one session's dropped replies to one a minute.
///
/// Locks: `state` is a leaf.
final class DroppedReplies: Sendable {
    private struct State {
        var nextReport: UInt64 = 0
        var omitted = 0
    }

    private let state = Mutex(State())

    /// Nanoseconds.
    private static let interval: UInt64 = 60_000_000_000

    /// - Parameter opcode: as linux/fuse.h numbers requests; 0 if unknown.
    /// - Returns: a line for the log; nil if one was returned less than a minute ago.
    func report(opcode: UInt32, caller: RequestCaller) -> String? {
        state.withLock { state in
            let now = MonotonicClock.nanoseconds
            guard now >= state.nextReport else {
                state.omitted += 1
                return nil
            }
            defer { state = State(nextReport: now + DroppedReplies.interval) }
            let others = state.omitted == 0 ? "" : "; so were \(state.omitted) others since the last report"
            return
                "the reply to FUSE request \(opcode) of thread \(caller.thread) was dropped, which answered EIO\(others)"
        }
    }
}
