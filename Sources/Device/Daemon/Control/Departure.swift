// When a client goes away: what an answer that stays open lives by.

import Synchronization

/// The moment when a client has gone, or needs nothing any more. It comes once.
public final class Departure: Sendable {
    private struct State {
        var hasOccurred = false
        var bodies: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    public init() {}

    /// Calls back at that moment; at once when it is past. The body must not block.
    public func whenOccurred(_ body: @escaping @Sendable () -> Void) {
        let isPast = state.withLock { state in
            if !state.hasOccurred { state.bodies.append(body) }
            return state.hasOccurred
        }
        if isPast { body() }
    }

    func occur() {
        let bodies = state.withLock { state in
            state.hasOccurred = true
            defer { state.bodies = [] }
            return state.bodies
        }
        for body in bodies { body() }
    }
}

/// The clients whose requests have been passed on, by the number that the request says. The gate knows who has gone,
/// and the server behind it, which writes nothing to an answer that stays open, does not.
final class Departures: Sendable {
    /// The header that names the number. A client's own header of that name is not passed on.
    static let header = "Connection-Number"

    private let state = Mutex((next: UInt64(0), here: [UInt64: Departure]()))

    func begin() -> UInt64 {
        state.withLock { state in
            state.next += 1
            state.here[state.next] = Departure()
            return state.next
        }
    }

    func end(_ number: UInt64) {
        state.withLock { $0.here.removeValue(forKey: number) }?.occur()
    }

    /// - Returns: one that has occurred for a client who is not here any more.
    subscript(_ header: String?) -> Departure {
        let here = header.flatMap { UInt64($0) }.flatMap { number in state.withLock { $0.here[number] } }
        if let here { return here }
        let past = Departure()
        past.occur()
        return past
    }
}
