// The end of a client's connection, as an event that a handler can observe.

import Synchronization

/// The disconnect of a client. It occurs once: when the client has gone, or when the server needs the response no more.
///
/// Lock: its own, for moments only. Observers are called without it, on the thread that reports the disconnect.
public final class ClientDisconnect: Sendable {
    /// Observers are there only until the disconnect has occurred.
    private struct State {
        var hasOccurred = false
        var observers: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    public init() {}

    public var hasOccurred: Bool { state.withLock { $0.hasOccurred } }

    /// Calls back once, at the disconnect; at once when it has occurred.
    public func whenOccurred(_ observer: @escaping @Sendable () -> Void) {
        let isPast = state.withLock { state in
            if !state.hasOccurred { state.observers.append(observer) }
            return state.hasOccurred
        }
        if isPast { observer() }
    }

    /// Reports the disconnect and calls the observers. Later calls do nothing.
    public func occur() {
        let observers = state.withLock { state in
            state.hasOccurred = true
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer() }
    }
}
