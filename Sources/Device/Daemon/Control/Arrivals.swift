// The connections whose requests are still on their way: how many there may be, and for how long.

import Synchronization

/// What the control socket puts up with from clients that have not said yet what they want.
struct ArrivalLimits: Sendable {
    /// From the connection to the last byte of the request.
    var time = Duration.seconds(30)
    /// Far more than clients that mean it, and few enough to leave descriptors for the files of apps.
    var connections = 256
}

/// The connections whose requests are still on their way. When there are too many, the oldest gives way: a client that
/// means it has sent its request long before.
final class Arrivals: Sendable {
    private struct State {
        var next: UInt64 = 0
        var waiting: [UInt64: AsyncStream<Void>.Continuation] = [:]
    }

    struct Arrival: Sendable {
        fileprivate let number: UInt64
        fileprivate let dismissal: AsyncStream<Void>
    }

    private let limits: ArrivalLimits
    private let state = Mutex(State())

    init(limits: ArrivalLimits) {
        self.limits = limits
    }

    func begin() -> Arrival {
        let (dismissal, dismiss) = AsyncStream.makeStream(of: Void.self)
        let (number, count) = state.withLock { state in
            defer { state.next += 1 }
            state.waiting[state.next] = dismiss
            return (state.next, state.waiting.count)
        }
        if count > limits.connections { dismissOldest() }
        return Arrival(number: number, dismissal: dismissal)
    }

    /// Waits for a request for as long as there is time and room for it.
    /// - Returns: nil when it has to give way.
    func wait<Value: Sendable>(
        for arrival: Arrival, _ read: @escaping @Sendable () async -> Value
    ) async -> Value? {
        defer { end(arrival) }
        return await withTaskGroup(of: Value?.self) { group in
            group.addTask { await read() }
            group.addTask { [limits] in
                try? await Task.sleep(for: limits.time)
                return nil
            }
            group.addTask {
                for await _ in arrival.dismissal {}
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// It is not on its way any more.
    func end(_ arrival: Arrival) {
        state.withLock { _ = $0.waiting.removeValue(forKey: arrival.number) }
    }

    /// - Returns: false when there is none.
    @discardableResult
    func dismissOldest() -> Bool {
        let oldest = state.withLock { state in
            state.waiting.keys.min().flatMap { state.waiting.removeValue(forKey: $0) }
        }
        oldest?.finish()
        return oldest != nil
    }
}
