// How long a coordinated access waits for others, so that a process that is stopped or hostile keeps nobody for ever.
import Platform

struct CoordinationLimits: Sendable {
    /// Seconds in which a process that runs takes a connection. One that does not is passed over, if it presents items,
    /// because it cannot use them meanwhile. All are asked at once. ``SilentListeners`` has the ones that are not
    /// waited for so long.
    var greeting = 3.0
    /// Seconds in which presenters have to give up an item; after that the access goes on without their word.
    var presenters = 30.0
    /// Seconds for which a process that does not run may hold an item that others wait for. Then they fail.
    var stopped = 6.0
    /// Seconds for which anybody may hold an item that others wait for. Then they fail.
    var longest = 300.0
    /// Connections that a process serves at a time, and listeners that one access asks.
    var connections = 256
    /// Moves that a process hears of over one connection: each is a call that waits in the queue of a presenter. After
    /// that the connection ends, and presenters take their items back.
    var moves = 1000

    @TaskLocal static var current = CoordinationLimits()
}

/// A coordinator's own end of its waiting.
protocol Cancellable: Sendable {
    var isCancelled: Bool { get }
}

extension UInt64 {
    /// The time of ``MonotonicClock`` in so many seconds.
    static func nanoseconds(in seconds: Double) -> UInt64 { MonotonicClock.nanoseconds + UInt64(seconds * 1e9) }
}
