// The device's clock: the host's, and as far ahead of it as it was advanced.

public import Platform
import Synchronization

/// The clock of a device. Its ages and waits are measured by it. Files have the times of the host.
///
/// Lock: `moves` is innermost; the present difference is an atomic beside it, for calls on files. One thread at a time
/// moves the clock.
public final class DeviceClock: Sendable {
    private let moves: Mutex<ClockHistory>
    private let difference: Atomic<Int64>

    public init(_ history: ClockHistory = ClockHistory()) {
        moves = Mutex(history)
        difference = Atomic(history.ahead)
    }

    public var history: ClockHistory { moves.withLock { $0 } }

    /// Nanoseconds by which it is ahead of the host's clock.
    public var ahead: Int64 { difference.load(ordering: .relaxed) }

    public var now: HostTime { HostTime(nanoseconds: HostTime.now.nanoseconds + ahead) }

    /// The time that this clock showed when the host's showed another. Never later than now.
    public func time(of host: HostTime) -> HostTime {
        let now = HostTime.now
        guard host < now else { return self.now }
        return HostTime(nanoseconds: host.nanoseconds + moves.withLock { $0.ahead(at: host) })
    }

    /// Begins a move, which ``advance(by:)`` makes in steps.
    public func beginMove() { moves.withLock { $0.begin(at: .now) } }

    /// - Parameter nanoseconds: not negative; the sum is one of ``ClockHistory/aheads``.
    public func advance(by nanoseconds: Int64) {
        let ahead = moves.withLock { moves in
            moves.advance(by: nanoseconds)
            return moves.ahead
        }
        difference.store(ahead, ordering: .relaxed)
    }

    /// Sets the clock to the host's time.
    public func reset() {
        moves.withLock { $0 = ClockHistory() }
        difference.store(0, ordering: .relaxed)
    }
}
