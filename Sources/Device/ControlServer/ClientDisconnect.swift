// The end of a client's connection: a response that stays open lasts until then.

import Synchronization

/// The moment when a client has gone, or needs nothing any more. It comes once.
public final class ClientDisconnect: Sendable {
    private struct State {
        var hasOccurred = false
        var observers: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    public init() {}

    /// Calls back at that moment; at once when it is past.
    public func whenOccurred(_ observer: @escaping @Sendable () -> Void) {
        let isPast = state.withLock { state in
            if !state.hasOccurred { state.observers.append(observer) }
            return state.hasOccurred
        }
        if isPast { observer() }
    }

    /// Makes this the moment, and calls the observers. Later calls do nothing.
    public func occur() {
        let observers = state.withLock { state in
            state.hasOccurred = true
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer() }
    }
}
